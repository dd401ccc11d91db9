import { expect, test } from "vitest";
import { array, assert, asyncProperty, constantFrom, dictionary, json, jsonValue, oneof } from "fast-check";
import { cleanProviderText } from "../../scanner/okta/provider_text.ts";
import { connect } from "../../scanner/okta/connection.ts";
import { IdpError } from "../../scanner/okta/idp_error.ts";
import { RequestSender } from "../../scanner/okta/request_sender.ts";
import { isLine } from "../../shared/text.ts";
import { cleanUp } from "../support/clean_up.ts";
import { hostileString, textsOf } from "./hostile_text.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { configFor, openClient } from "../support/idp_connection.ts";
import { createScriptedIdp, tokenPath } from "../support/scripted_idp.ts";
import { anyText, fuzzed, mutated } from "./fuzzed.ts";

test("whatever bytes an organization answers, a read is evidence only when they are the JSON that was asked for", async () => {
  const idp = await createScriptedIdp();
  cleanUp(() => idp.stop());
  const example = JSON.stringify([{ id: "a", profile: { name: "x" } }, { id: "b" }]);
  const entries = array(
    dictionary(hostileString, oneof(hostileString, array(hostileString)), { noNullPrototype: true }),
  );
  const hostile = entries.map((value) => JSON.stringify(value));
  const body = oneof(hostile, mutated(hostile), mutated(constantFrom(example)), json(), anyText());
  const config = configFor(idp);
  let read = 0;
  const clock = createFakeClock(Date.now());
  const sender = new RequestSender(config, { signal: new AbortController().signal, clock });
  cleanUp(() => sender.close());
  const { client, login } = await openClient(config, { sender, clock });
  await login.current();
  await assert(
    asyncProperty(body, constantFrom(200, 200, 200, 204, 400, 403, 404), async (text, status) => {
      idp.on("GET", "/api/v1/zones", { status, body: text, headers: { "content-type": "application/json" } });
      const list = await client.getList({ path: "/api/v1/zones", scope: "policies.read" });
      // As it arrives, in UTF-8; what is escaped in it is not touched by that.
      const parsed = parsedOf(new TextDecoder().decode(Buffer.from(text)));
      const isList = Array.isArray(parsed) && parsed.every((entry) => entry !== null && typeof entry === "object");
      read += list.state === "obtained" ? 1 : 0;
      if (list.state === "obtained") {
        expect(status).toBe(200);
        expect(isList).toBe(true);
        expect(list.value).toEqual(cleanProviderText(parsed, { pageField: "pageContent" }));
        // A saved file says the same when it is read again.
        expect(cleanProviderText(structuredClone(list.value), { pageField: "pageContent" })).toEqual(list.value);
        for (const line of textsOf(list.value)) expect(isLine(line, 2000), JSON.stringify(line)).toBe(true);
      } else {
        expect(isLine(list.detail, 2000), list.detail).toBe(true);
      }
    }),
    fuzzed(150),
  );
  // Both happened: what is read and what is refused.
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(150);
  expect(idp.seen("/api/v1/zones").length).toBeGreaterThanOrEqual(150);
});

test("whatever an organization says before and at login, it is a connection or an error for a person, in lines", async () => {
  const idp = await createScriptedIdp({ otherwise: { body: [] } });
  cleanUp(() => idp.stop());
  const fields = constantFrom(
    "id",
    "pipeline",
    "error",
    "error_description",
    "errorCode",
    "access_token",
    "token_type",
  );
  const answer = dictionary(
    oneof(fields, fields, hostileString),
    oneof(hostileString, jsonValue(), constantFrom("DPoP")),
  );
  const status = constantFrom(200, 200, 200, 400, 401, 403, 404);
  let connected = 0;
  await assert(
    asyncProperty(answer, answer, status, status, async (about, token, aboutStatus, tokenStatus) => {
      idp.on("GET", "/.well-known/okta-organization", { status: aboutStatus, body: JSON.stringify(about) });
      const body = tokenStatus === 404 ? issueBody : JSON.stringify(token);
      idp.on("POST", tokenPath, { status: tokenStatus === 404 ? 200 : tokenStatus, body });
      try {
        const clock = createFakeClock(Date.now());
        const connection = await connect(configFor(idp), { signal: new AbortController().signal, clock });
        for (const text of textsOf([connection.org, connection.scopes])) expect(isLine(text, 2000), text).toBe(true);
        connected += 1;
        await connection.close();
      } catch (error) {
        expect(error).toBeInstanceOf(IdpError);
        expect(isLine((error as IdpError).message, 2000), (error as IdpError).message).toBe(true);
      }
    }),
    fuzzed(60),
  );
  expect(connected).toBeGreaterThan(0);
  expect(connected).toBeLessThan(60);
});

const issueBody = JSON.stringify({
  token_type: "Bearer",
  access_token: "opaque",
  scope: "okta.policies.read idp.policies.read \ud800",
});

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
