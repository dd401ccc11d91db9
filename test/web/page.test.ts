import { expect, test } from "vitest";
import { buildFinding } from "../support/scan_producer.ts";
import { openPage, openStage } from "./watched_page.ts";
import { followsScanToItsEnd, isolatesTenants, recoversAfter } from "./watching_cases.ts";

const { browser, gateway, demoTenant } = await openStage();

test("follows a scan from its start to its end without a reload", async () => {
  const acme = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  // The demo opens it by itself.
  await followsScanToItsEnd(watched, acme.producer, async () => {});
});

test("shows that a scan ended while it was disconnected", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using watched = await openPage(browser, gateway.url);
  await watched.untilConnection("live");
  await gateway.stop();
  await watched.untilConnection("reconnecting");
  await gateway.start();
  await scan.store([buildFinding({ resource_name: "Stored while disconnected" })]);
  await scan.end("failed", { pass: 0, fail: 1, manual: 0 });
  await watched.untilConnection("ended");
  await watched.page.locator(".scan-title .badge", { hasText: "Failed" }).waitFor();
  await watched.page.locator(".finding", { hasText: "Stored while disconnected" }).waitFor();
});

test("shows the current state after the broker was cut", async () => {
  const { producer } = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  const interruption = { cut: async () => gateway.loseBroker(), reason: "the gateway lost its broker" };
  await recoversAfter(interruption, watched, { producer, gatewayUrl: gateway.url });
});

test("two tenants never see each other's scans", async () => {
  gateway.setDemo(null);
  const tenants = { acme: await gateway.createTenant("Acme"), globex: await gateway.createTenant("Globex") };
  await isolatesTenants(browser, gateway.url, tenants);
});

test("stays at the scan that was chosen and offers a newer one", async () => {
  const acme = await demoTenant();
  const ended = await acme.producer.register({ org_url: "https://chosen.okta.com", checks_total: 0 });
  await ended.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${ended.id}`);
  const { page } = watched;
  await watched.untilConnection("ended");
  await page.getByText("This scan has no findings.").waitFor();
  const newer = await acme.producer.register({ org_url: "https://newer.okta.com", checks_total: 1 });
  const offer = page.getByText("A new scan of newer.okta.com is waiting to start.");
  await offer.waitFor();
  expect(new URL(page.url()).hash).toBe(`#/scans/${ended.id}`);
  await page.getByRole("link", { name: "Watch it" }).click();
  await page.getByRole("heading", { level: 1, name: "newer.okta.com" }).waitFor();
  await watched.untilConnection("live");
  expect(await offer.isVisible()).toBe(false);
  await newer.end("completed", { pass: 0, fail: 0, manual: 0 });
});

test("an address leads to what it names, also with a query of others, and else says that there is no such page", async () => {
  const acme = await demoTenant();
  const older = await acme.producer.register({ org_url: "https://older.okta.com", checks_total: 0 });
  await older.end("completed", { pass: 0, fail: 0, manual: 0 });
  const newest = await acme.producer.register({ org_url: "https://newest.okta.com", checks_total: 0 });
  await newest.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using named = await openPage(browser, `${gateway.url}/#/scans/${older.id}?utm_source=mail`);
  await named.page.getByRole("heading", { level: 1, name: "older.okta.com" }).waitFor();
  for (const hash of ["#/garbage", "#/scans/%E0%A4%A"]) {
    await using watched = await openPage(browser, `${gateway.url}/${hash}`);
    await watched.page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(new URL(watched.page.url()).hash).toBe(hash);
  }
});

test("the demo opens a scan that starts while it shows an ended one", async () => {
  const acme = await demoTenant();
  const first = await acme.producer.register({ org_url: "https://first.okta.com", checks_total: 0 });
  await using watched = await openPage(browser, gateway.url);
  await watched.page.getByRole("heading", { level: 1, name: "first.okta.com" }).waitFor();
  await first.end("completed", { pass: 0, fail: 0, manual: 0 });
  await watched.untilConnection("ended");
  const second = await acme.producer.register({ org_url: "https://second.okta.com", checks_total: 1 });
  await watched.page.getByRole("heading", { level: 1, name: "second.okta.com" }).waitFor();
  await second.end("completed", { pass: 0, fail: 0, manual: 0 });
});

test("the cancel button asks the scanner to stop", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://cancel.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("live");
  await page.getByRole("button", { name: "Cancel scan" }).click();
  const asked = page.getByRole("button", { name: "Cancelling…" });
  await asked.waitFor();
  expect(await asked.isDisabled()).toBe(true);
  await scan.end("cancelled", { pass: 0, fail: 0, manual: 0 });
  await page.locator(".scan-title .badge", { hasText: "Cancelled" }).waitFor();
  expect(await asked.isVisible()).toBe(false);
});

test("shows a provider's text as text, never as markup", async () => {
  const acme = await demoTenant();
  const attack = `<img src=x onerror="globalThis.wasAttacked=true"><script>globalThis.wasAttacked=true</script>`;
  const scan = await acme.producer.register({
    org_url: "https://attack.okta.com",
    client_id: attack.slice(0, 100),
    checks_total: 1,
  });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("live");
  const finding = buildFinding({
    check: "__proto__",
    resource_name: attack,
    detail: attack,
    expected: attack,
    actual: attack,
  });
  await scan.check("__proto__", [finding], { done: 1, total: 1 });
  await scan.publish("scan.error", { code: "x", detail: attack });
  await page.locator(".finding summary").click();
  await page.locator(".fact-actual", { hasText: attack }).waitFor();
  expect(await page.locator(".finding-name").textContent()).toBe(attack);
  expect(await page.locator(".scan-problems li").textContent()).toBe(attack);
  expect(await page.locator(".columns img, .columns script").count()).toBe(0);
  expect(await page.evaluate(() => Reflect.get(globalThis, "wasAttacked"))).toBeUndefined();
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
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
