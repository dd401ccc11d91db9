import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { scanEvents } from "../../shared/scan_events.ts";
import { buildFinding, type ProducedScan } from "../support/scan_producer.ts";
import { openPage, openStage } from "./watched_page.ts";

/** Many findings, scans and organizations. */

const { browser, gateway, demoTenant } = await openStage();

test("filters findings by result, severity, text and check, and sorts them", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await scan.store([
    buildFinding({ check: "check_one", resource_name: "Alpha", status: "PASS", severity: "high" }),
    buildFinding({ check: "check_one", resource_name: "Beta", status: "FAIL", severity: "low" }),
    buildFinding({
      check: "check_two",
      resource_name: "Gamma",
      status: "MANUAL",
      severity: "high",
      actual: "a custom factor",
    }),
    buildFinding({ check: "check_two", resource_name: "Delta", status: "FAIL", severity: "high" }),
  ]);
  await scan.end("completed", { pass: 0, fail: 2, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("ended");
  await untilNames(page, ["Delta", "Beta", "Gamma", "Alpha"]);

  await page.getByRole("button", { name: /^Fail/ }).click();
  await untilNames(page, ["Delta", "Beta"]);
  await page.getByRole("button", { name: /^CAT I \d/ }).click();
  await untilNames(page, ["Delta"]);
  await page.getByText("1 of 4 findings").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Filter by text").fill("custom FACTOR");
  await untilNames(page, ["Gamma"]);
  await page.getByLabel("Filter by text").fill("nothing has this");
  await page.getByText("No finding matches these filters.").waitFor();
  await page.getByLabel("Filter by text").fill("");
  await page.getByRole("button", { name: /Check one/ }).click();
  await untilNames(page, ["Beta", "Alpha"]);
  await page.getByRole("button", { name: "Show the findings of all checks" }).click();
  await page.getByLabel("Order").selectOption("By resource");
  await untilNames(page, ["Alpha", "Beta", "Delta", "Gamma"]);
  await page.getByLabel("Order").selectOption("Newest first");
  expect(await page.locator(".finding").count()).toBe(4);
});

test("filters 2,000 findings, of which half arrive while it is looked at, and makes more rows at the end of the list", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://large.okta.com", checks_total: 20 });
  await scan.update({ status: "running" });
  await scan.store(buildMany(1000, "stored"));
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await page.getByText("1,000 findings", { exact: true }).waitFor();
  await watched.untilConnection("live");

  await publishMany(scan, buildMany(1000, "streamed"));
  await page.getByText("2,000 findings", { exact: true }).waitFor();
  await page.getByLabel("Filter by text").pressSequentially("streamed resource n999n");
  await page.getByText("1 of 2,000 findings").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("2,000 findings", { exact: true }).waitFor();
  for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, 4000);
  // Scrolling has made more rows than those of the beginning.
  await page.locator(".finding").nth(150).waitFor({ state: "attached" });
  await scan.end("completed", { pass: 0, fail: 20, manual: 0 });
  await watched.untilConnection("ended");
});

test("'Load more' adds older scans to the list", async () => {
  const acme = await demoTenant();
  const endedScan = async (_scan: unknown, index: number) => {
    const scan = await acme.producer.register({ org_url: `https://org${index}.okta.com`, checks_total: 0 });
    await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  };
  await endedScan(null, 0);
  await Promise.all(Array.from({ length: 50 }, (_scan, index) => endedScan(null, index + 1)));
  await using watched = await openPage(browser, gateway.url);
  const rows = watched.page.locator(".scan-list li");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  const more = watched.page.getByRole("button", { name: "Load more" });
  await more.click();
  await rows.nth(50).waitFor();
  expect(await rows.last().textContent()).toContain("org0.okta.com");
  expect(await more.isVisible()).toBe(false);
});

test("60 organizations are live on one stream, the worst first", async () => {
  const { producer } = await demoTenant();
  for (let index = 0; index < 60; index += 1) {
    const scan = await producer.register({ org_url: `https://org${index}.okta.com`, checks_total: 1 });
    await scan.end("completed", { pass: 1, fail: 0, manual: 0 });
  }
  await using watched = await openPage(browser, `${gateway.url}/#/decisions`);
  await watched.page.locator('.top .connection[data-state="live"]').waitFor();
  // Whoever chose the overview stays on it; the demo's page opens by itself a scan that runs.
  await watched.page.evaluate(() => (location.hash = "#/"));
  const rows = watched.page.locator(".organization");
  await expect.poll(() => rows.count()).toBe(60);
  const scan = await producer.register({ org_url: "https://org17.okta.com", checks_total: 1 });
  await scan.store([buildFinding({ severity: "high" })]);
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  await rows.first().filter({ hasText: "org17.okta.com" }).waitFor();
  expect(watched.requestUrls.filter((url) => url.includes("/event-stream"))).toHaveLength(1);
});

function buildMany(count: number, name: string): ReturnType<typeof buildFinding>[] {
  return Array.from({ length: count }, (_finding, index) =>
    buildFinding({
      check: `check_${index % 20}`,
      resource_name: `${name} resource n${index}n`,
      status: index % 3 === 0 ? "FAIL" : "PASS",
    }),
  );
}

async function publishMany(scan: ProducedScan, findings: ReturnType<typeof buildMany>): Promise<void> {
  for (const { check, status, severity, resource_name, detail, fingerprint } of findings) {
    const payload = { scan_id: scan.id, check, status, severity, resource_name, detail, fingerprint };
    await scanEvents(gateway.publisher).publishFindingCreated(scan.channel, payload);
  }
}

async function untilNames(page: Page, names: readonly string[]): Promise<void> {
  await expect.poll(() => page.locator(".finding-name").allTextContents()).toEqual(names);
}
