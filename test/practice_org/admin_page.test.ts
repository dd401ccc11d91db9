import { expect, test } from "vitest";
import { startOrg } from "./start_org.ts";

test.each([
  ["a form of another site", "application/x-www-form-urlencoded", "name=mfa-off"],
  ["JSON from another site", "application/json", `{"name":"mfa-off"}`],
])("a change is refused in %s", async (_, type, body) => {
  const org = await startOrg();
  const before = JSON.stringify(org.contents());
  const headers = { "content-type": type, origin: "https://evil.example" };
  const response = await fetch(`${org.url}/practice/change`, { method: "POST", headers, body, redirect: "manual" });
  expect(response.status).toBe(403);
  expect(JSON.stringify(org.contents())).toBe(before);
});
