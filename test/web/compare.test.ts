import { expect, test } from "vitest";
import { aChange } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway, demoTenant } = await openStage();

test("compares a scan with the one before, or with what a monitor sees now, in the words of the command line", async () => {
  const acme = await demoTenant();
  const scanOf = async (org: string, findings: readonly ReturnType<typeof buildFinding>[]) => {
    const scan = await acme.producer.register({ org_url: org, checks_total: 1 });
    await scan.store(findings);
    await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
    return scan;
  };
  const at = (name: string, change: object) =>
    buildFinding({ fingerprint: name, resource_id: name, resource_name: name, ...change });
  const before = await scanOf("https://acme.okta.com", [
    at("Alpha", { status: "FAIL" }),
    at("Beta", { status: "PASS", actual: "15 minutes" }),
    at("Same", { status: "FAIL" }),
  ]);
  const after = await scanOf("https://acme.okta.com", [
    at("Alpha", { status: "PASS", actual: "15 minutes" }),
    at("Beta", { status: "FAIL" }),
    at("Same", { status: "FAIL" }),
    at('<img src="x" onerror="document.title=1">', { status: "FAIL" }),
  ]);
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${after.id}`);
  const { page } = watched;
  await page.getByRole("link", { name: "Compare with the scan before" }).click();
  await page.getByRole("heading", { name: "Changes of acme.okta.com" }).waitFor();
  expect(new URL(page.url()).hash).toBe(`#/compare/${before.id}/${after.id}`);
  expect(await page.locator(".compare h2").allTextContents()).toEqual([
    "New (1)",
    "Verdict changed (1)",
    "Resolved (1)",
  ]);
  const rows = await page.locator(".compare .change").allTextContents();
  expect(rows[0]).toContain("<img src=");
  expect(rows[1]).toMatch(/Beta.*Pass.*15 minutes.*Fail.*120 minutes/);
  expect(rows[2]).toMatch(/Alpha.*Fail.*120 minutes.*Pass.*15 minutes/);
  await page.getByRole("link", { name: "Back to the scan" }).click();
  await page.getByRole("link", { name: "Compare with the scan before" }).waitFor();

  await page.goto(`${gateway.url}/#/compare/${after.id}/${after.id}`);
  await page.getByText("No difference").waitFor();
  const other = await scanOf("https://other.okta.com", []);
  await page.goto(`${gateway.url}/#/compare/${before.id}/${other.id}`);
  await page.getByText("Two organizations cannot be compared").waitFor();
  await page.goto(`${gateway.url}/#/compare/${before.id}/00000000-0000-4000-8000-000000000000`);
  await page.getByText("The gateway did not return both").waitFor();

  const monitor = await produceMonitor(gateway.url, acme.apiKey);
  const resource = { type: "policy", id: "Alpha", name: "Alpha" };
  const first = { from: null, cause: "start", explained_by: [] } as const;
  await monitor.store([aChange({ ...first, fingerprint: "Alpha", resource, to: { status: "PASS", reason: null } })]);
  await page.goto(`${gateway.url}/#/compare/${before.id}/${monitor.id}`);
  await page.locator(".compare .change", { hasText: "Alpha" }).filter({ hasText: "Pass" }).waitFor();
  await page.getByText("now (monitor, last checked").waitFor();
});
