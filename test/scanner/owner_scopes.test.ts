import { isHolding } from "../../shared/rule_result.ts";
import { afterEach, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { defaultScopes } from "../../scanner/settings/values.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";

let org: PracticeOrg | null = null;

afterEach(() => org?.stop());

test("a scan goes on without users.read, asks for no user's groups, and names that scope", async () => {
  const grantedScopes = defaultScopes.filter((scope) => scope !== "users.read");
  org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super", grantedScopes });
  const { results } = await scanPracticeOrg(org);
  const others = results.filter(({ check }) => check !== "apitoken_not_super_admin");
  expect(others.every(isHolding)).toBe(true);
  const owners = results.find(({ check }) => check === "apitoken_not_super_admin");
  expect(owners?.findings[0]).toMatchObject({
    status: "MANUAL",
    reason: "missing_scope",
    detail: expect.stringContaining("okta.users.read") as string,
  });
  expect(org.requests.filter(({ path }) => /^\/api\/v1\/users\/[^/]+\/groups/.test(path))).toEqual([]);
});
