import { expect, test } from "vitest";
import { startOrg } from "../../practice_org/start_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

test("the rules of the apps' policies are asked for while later pages of apps still come, each once", async () => {
  const org = await startOrg({ profile: { name: "large", appCount: 1000 } });
  await scanPracticeOrg(org);
  const paths = org.requests.map(({ path }) => path);
  const lastPage = paths.findLastIndex((path) => path.startsWith("/api/v1/apps?"));
  const rules = paths.filter((path) => /^\/api\/v1\/policies\/\w+\/rules$/.test(path));
  expect(new Set(rules).size).toBe(rules.length);
  const before = rules.filter((path) => paths.indexOf(path) < lastPage);
  expect(before.length).toBeGreaterThan(rules.length / 2);
});
