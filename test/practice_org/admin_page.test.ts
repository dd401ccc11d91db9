import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { parse } from "parse5";
import { everyScope } from "../../practice_org/api/routes.ts";
import { settings } from "../../practice_org/changes/org_changes.ts";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

const jsonType = { "content-type": "application/json" };
const formType = { "content-type": "application/x-www-form-urlencoded" };

function post(org: PracticeOrg, body: string, headers: Readonly<Record<string, string>>) {
  return fetch(`${org.url}/practice/change`, { method: "POST", headers, body, redirect: "manual" });
}

async function pageOf(org: PracticeOrg, query = "") {
  const response = await fetch(`${org.url}/${query}`);
  const text = await response.text();
  const token = /name="token" value="([\w-]+)"/.exec(text)?.[1] ?? "";
  return { response, text, token };
}

describe("POST /practice/change", () => {
  test("makes a change as the admin that it names, and says which events the log got", async () => {
    const org = await startOrg();
    const response = await post(org, JSON.stringify({ name: "mfa-off", actor: "sam@practice.example" }), jsonType);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      name: "mfa-off",
      transaction_id: expect.stringMatching(/^[\w-]{22}$/),
      events: [{ uuid: expect.stringMatching(/^[0-9a-f-]{36}$/), event_type: "policy.rule.update" }],
    });
    expect((await pageOf(org)).text).toContain("by Sam Security");
  });

  test.each([
    ["no such change", jsonType, `{"name":"explode"}`, 404],
    ["no such admin", jsonType, `{"name":"mfa-off","actor":"eve"}`, 404],
    ["already set to it", jsonType, `{"name":"anonymizers-allowed"}`, 409],
    ["no name", jsonType, `{}`, 400],
    ["no JSON", jsonType, `{`, 400],
    ["plain text, which a form of another site can send", { "content-type": "text/plain" }, `{"name":"mfa-off"}`, 415],
    ["a form without the page's token", formType, "name=mfa-off", 403],
    ["a form with another token", formType, `name=mfa-off&token=${"A".repeat(43)}`, 403],
    ["JSON from another site", { ...jsonType, origin: "https://evil.example" }, `{"name":"mfa-off"}`, 403],
    [
      "JSON that the browser marks as another site's",
      { ...jsonType, "sec-fetch-site": "cross-site" },
      `{"name":"mfa-off"}`,
      403,
    ],
  ])("%s: refused, and nothing is changed", async (_, headers, body, status) => {
    const org = await startOrg();
    const before = JSON.stringify(org.contents());
    expect((await post(org, body, headers)).status).toBe(status);
    expect(JSON.stringify(org.contents())).toBe(before);
  });

  test("takes the page's own form, and leads back to the page", async () => {
    const org = await startOrg();
    const { token } = await pageOf(org);
    const form = new URLSearchParams({ token, name: "mfa-off", actor: "dana@practice.example" });
    const response = await post(org, form.toString(), {
      ...formType,
      origin: org.url,
      "sec-fetch-site": "same-origin",
    });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/?actor=dana%40practice.example&done=mfa-off");
    const { text } = await pageOf(org, "?actor=dana%40practice.example&done=mfa-off");
    expect(text).toContain("Done: Turn off MFA for the Admin Console");
    expect(text).toContain(`<option value="dana@practice.example" selected>`);
    const again = await post(org, form.toString(), formType);
    expect(again.headers.get("location")).toContain("problem=It+is+already+set+to+this+value");
  });

  test("GET is refused there, and POST elsewhere", async () => {
    const org = await startOrg();
    expect((await fetch(`${org.url}/practice/change`)).status).toBe(405);
    expect((await fetch(`${org.url}/`, { method: "POST" })).status).toBe(405);
  });
});

test("GET /practice/changes lists every change, and whether it is possible now", async () => {
  const org = await startOrg();
  const list = async () => {
    const changes = (await (await fetch(`${org.url}/practice/changes`)).json()) as {
      name: string;
      label: string;
      is_possible: boolean;
    }[];
    return new Map(changes.map((change) => [change.name, change.is_possible]));
  };
  const before = await list();
  expect(before.size).toBe(settings.length * 2 + 1);
  expect([before.get("brand-added"), before.get("brand-deleted"), before.get("sign-in")]).toEqual([true, false, true]);
  org.change("brand-added");
  const after = await list();
  expect([after.get("brand-added"), after.get("brand-deleted")]).toEqual([false, true]);
});

test("Only a request to this machine's own name is answered", async () => {
  const org = await startOrg();
  const statusFor = (host: string, path: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(org.port, "127.0.0.1", () =>
        socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      );
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("end", () => resolve(text.split(" ")[1] ?? ""));
      socket.on("error", reject);
    });
  for (const path of ["/", "/practice/changes"]) {
    expect(await statusFor(`localhost:${org.port}`, path)).toBe("200");
    expect(await statusFor("rebound.example", path)).toBe("403");
  }
});

describe("The admin page", () => {
  test("allows its own script and style only, by a nonce that is for one answer", async () => {
    const org = await startOrg();
    const policies = await Promise.all([pageOf(org), pageOf(org)]);
    const [one, two] = policies.map(({ response }) => response.headers.get("content-security-policy") ?? "");
    const nonce = /script-src 'nonce-([\w-]{22})'/.exec(one ?? "")?.[1] ?? "";
    expect(one).not.toBe(two);
    expect(one).toContain("default-src 'none'");
    expect(one).toContain("frame-ancestors 'none'");
    const { text } = policies[0] ?? { text: "" };
    expect(text.match(/<(?:script|style)[ >]/g)).toHaveLength(2);
    expect(text.match(new RegExp(`<(?:script|style) nonce="${nonce}"`, "g"))).toHaveLength(2);
    expect(text).not.toMatch(/ (?:on[a-z]+|style)=/);
  });

  /** The service app's: grant and revoke for each scope, and twelve more. */
  const appButtons = everyScope.length * 2 + 13;

  test("is well-formed HTML, with a button for each change, off where it is not possible", async () => {
    const org = await startOrg();
    const { text } = await pageOf(org);
    const problems: string[] = [];
    parse(text, { onParseError: ({ code }) => problems.push(code), sourceCodeLocationInfo: true });
    expect(problems).toEqual([]);
    expect(text.match(/<button name="name"/g)).toHaveLength(settings.length * 2 + 1 + appButtons);
    expect(text).toContain('<button name="name" value="scope-granted:policies.read" disabled>');
    expect(text).toContain(`<button name="name" value="anonymizers-allowed" disabled>`);
    expect(text).toContain(`<button name="name" value="anonymizers-blocked">`);
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("shows each setting as it is, also in orgs that lack what it is about", async () => {
    const org = await startOrg();
    expect((await pageOf(org)).text).toContain("Catch-all Rule: two factors");
    org.change("mfa-off");
    expect((await pageOf(org)).text).toContain("Catch-all Rule: a password alone");
    for (const name of ["empty", "classic", "narrow", "unclear"] as const) {
      const { response, text } = await pageOf(await startOrg({ profile: { name } }));
      expect(response.status).toBe(200);
      if (name === "empty") expect(text).toContain("not in this org");
    }
  });

  test("shows the last 20 entries, the newest first, and no text of the log as markup", async () => {
    const org = await startOrg();
    for (let count = 0; count < 10; count += 1) org.signIn();
    org.setFaults([{ name: "hostile-actor" }]);
    org.change("mfa-off");
    const { text } = await pageOf(org, "?problem=<script>alert(1)</script>");
    const entries = /<ol id="log"[^>]*>(.*?)<\/ol>/s.exec(text)?.[1]?.split("</li>") ?? [];
    expect(entries).toHaveLength(21);
    expect(entries[0]).toContain("policy.rule.update");
    expect(entries[0]).toContain("&lt;script&gt;alert(1)");
    expect(entries[0]?.length).toBeLessThan(600);
    expect(text).not.toContain("<script>alert");
    expect(text).not.toMatch(/[\u0000-\u0008\u001B\u202E]/u);
    expect(text.isWellFormed()).toBe(true);
  });

  test("is no slower than this machine, whatever the org's latency, and no fault of the API breaks it", async () => {
    const org = await startOrg({ latencyMs: 60_000, faults: [{ name: "server-error" }, { name: "reset" }] });
    expect((await pageOf(org)).response.status).toBe(200);
  });
});
