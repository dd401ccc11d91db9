import { expect, test } from "vitest";
import { array, assert, asyncProperty, constantFrom, dictionary, integer, json, oneof } from "fast-check";
import { cleanProviderText } from "../../scanner/okta/provider_text.ts";
import { isLine } from "../../shared/text.ts";
import { setUpClient } from "../support/idp_connection.ts";
import { anyText, fuzzed, mutated } from "./fuzzed.ts";

/** Texts are built from code units: fast-check itself makes no lone surrogates. */
const codeUnits = [
  ..."a.A/ =<&;:0\\\"'+@-".split(""),
  ..."\0\u0001\t\n\r\u001b\u007f\u0085\u009b\u2028\u202e\u2066\ufeff\uffff\ufffd\u00ad\u200d".split(""),
  ..."\ud800\udbff\udc00\udfff".split(""),
];
const codeUnit = oneof(
  constantFrom(...codeUnits),
  integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);
const wholeTexts = [
  "",
  "../..",
  "\ud800\udc00\ud800",
  "x\r\n::error::forged",
  "__proto__",
  "toString",
  "😀".repeat(40),
];
const hostileString = oneof(
  array(codeUnit, { maxLength: 12 }).map((units) => units.join("")),
  constantFrom(...wholeTexts),
);

/** Returns every key and string in a value. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

test("whatever bytes an organization answers, a read is evidence only when they are the JSON that was asked for", async () => {
  const { idp, client, login } = await setUpClient();
  const example = JSON.stringify([{ id: "a", profile: { name: "x" } }, { id: "b" }]);
  const entries = array(
    dictionary(hostileString, oneof(hostileString, array(hostileString)), { noNullPrototype: true }),
  );
  const hostile = entries.map((value) => JSON.stringify(value));
  const body = oneof(hostile, mutated(hostile), mutated(constantFrom(example)), json(), anyText());
  let read = 0;
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

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
