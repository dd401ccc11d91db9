import { parse } from "parse5";
import { expect, test } from "vitest";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

const jsonType = { "content-type": "application/json" };
const formType = { "content-type": "application/x-www-form-urlencoded" };

function post(org: PracticeOrg, body: string, headers: Readonly<Record<string, string>>) {
  return fetch(`${org.url}/practice/change`, { method: "POST", headers, body, redirect: "manual" });
}

test("the admin page is well-formed, makes a change by its own form, and shows who made it", async () => {
  const org = await startOrg({ latencyMs: 60_000, faults: [{ name: "server-error" }, { name: "reset" }] });
  const pageOf = async () => (await fetch(`${org.url}/`)).text();
  const before = await pageOf();
  const problems: string[] = [];
  parse(before, { onParseError: ({ code }) => problems.push(code), sourceCodeLocationInfo: true });
  expect(problems).toEqual([]);
  expect(before).toContain("Catch-all Rule: two factors");
  const form = new URLSearchParams({ name: "mfa-off", actor: "dana@practice.example" });
  const response = await post(org, form.toString(), { ...formType, origin: org.url, "sec-fetch-site": "same-origin" });
  expect(response.status).toBe(303);
  const after = await pageOf();
  expect(after).toContain("Catch-all Rule: a password alone");
  expect(after).toContain("by Dana Duty");
});

test.each([
  ["a form of another site", { ...formType, origin: "https://evil.example" }, "name=mfa-off"],
  ["JSON from another site", { ...jsonType, origin: "https://evil.example" }, `{"name":"mfa-off"}`],
])("a change is refused in %s", async (_, headers, body) => {
  const org = await startOrg();
  const before = JSON.stringify(org.contents());
  expect((await post(org, body, headers)).status).toBe(403);
  expect(JSON.stringify(org.contents())).toBe(before);
});
