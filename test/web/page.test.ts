import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { startWebGateway, type WebGateway, type WebTenant } from "../support/web_gateway.ts";
import { openPage } from "./watched_page.ts";
import { followsScanToItsEnd, showsNobodyElsesScans, showsTheTruthAfter } from "./watching_cases.ts";

let browser: Browser;
let gateway: WebGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchChromium(), startWebGateway()]);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

/** A tenant of its own for each test, and the page signed in as it. */
async function demoTenant(): Promise<WebTenant> {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(tenant);
  return tenant;
}

test("the page follows a scan from its start to its end without a reload", async () => {
  const acme = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  // The demo opens it by itself.
  await followsScanToItsEnd(watched, acme.producer, async () => {});
});

test("the page shows the truth after the gateway was restarted in the middle", async () => {
  const { producer } = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  const interruption = { cut: () => gateway.stop(), mend: () => gateway.start() };
  await showsTheTruthAfter(interruption, watched, { producer, gatewayUrl: gateway.url });
});

test("the page learns of an end that it missed", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using watched = await openPage(browser, gateway.url);
  await watched.untilConnection("live");
  await gateway.stop();
  await watched.untilConnection("reconnecting");
  await gateway.start();
  await scan.store([buildFinding({ resource_name: "Stored meanwhile" })]);
  await scan.end("failed", { pass: 0, fail: 1, manual: 0 });
  await watched.untilConnection("ended");
  await watched.page.locator(".scan-title .badge", { hasText: "Failed" }).waitFor();
  await watched.page.locator(".finding", { hasText: "Stored meanwhile" }).waitFor();
});

test("the page shows the truth after the broker was cut", async () => {
  const { producer } = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  const interruption = { cut: async () => gateway.loseBroker(), reason: "the gateway lost its broker" };
  await showsTheTruthAfter(interruption, watched, { producer, gatewayUrl: gateway.url });
});

test("two tenants side by side never see each other", async () => {
  gateway.setDemo(null);
  const tenants = { acme: await gateway.createTenant("Acme"), globex: await gateway.createTenant("Globex") };
  await showsNobodyElsesScans(browser, gateway.url, tenants);
});

test("a scan that is chosen is left only by choice; a newer one is offered", async () => {
  const acme = await demoTenant();
  const ended = await acme.producer.register({ org_url: "https://chosen.okta.com", checks_total: 0 });
  await ended.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${ended.id}`);
  const { page } = watched;
  await watched.untilConnection("ended");
  await page.getByText("This scan has no findings.").waitFor();
  const newer = await acme.producer.register({ org_url: "https://newer.okta.com", checks_total: 1 });
  const offer = page.getByText("A new scan of newer.okta.com has started.");
  await offer.waitFor();
  expect(new URL(page.url()).hash).toBe(`#/scans/${ended.id}`);
  await page.getByRole("link", { name: "Watch it" }).click();
  await page.getByRole("heading", { level: 1, name: "newer.okta.com" }).waitFor();
  await watched.untilConnection("live");
  expect(await offer.isVisible()).toBe(false);
  await newer.end("completed", { pass: 0, fail: 0, manual: 0 });
});

test("the demo opens a scan that starts while it shows an ended one by itself", async () => {
  const acme = await demoTenant();
  const first = await acme.producer.register({ org_url: "https://first.okta.com", checks_total: 0 });
  await first.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, gateway.url);
  await watched.page.getByRole("heading", { level: 1, name: "first.okta.com" }).waitFor();
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

test("what a provider wrote is text, never markup", async () => {
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

test("the list loads older scans when asked", async () => {
  const acme = await demoTenant();
  for (let index = 0; index < 51; index += 1) {
    const scan = await acme.producer.register({ org_url: `https://org${index}.okta.com`, checks_total: 0 });
    await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  }
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

test("a trend of one scan is its bar alone, without a mark that tells it from others", async () => {
  const acme = await demoTenant();
  const orgUrl = "https://first.okta.com";
  const scan = await acme.producer.register({ org_url: orgUrl, checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await watched.untilConnection("live");
  await scan.check("check_one", [buildFinding({ check: "check_one" })], { done: 1, total: 2 });
  await page.locator(".trend-bar").waitFor();
  expect(await page.locator(".trend-chart circle").count()).toBe(0);
  await scan.end("completed", { pass: 1, fail: 1, manual: 0 });
  await watched.untilConnection("ended");
  const next = await acme.producer.register({ org_url: orgUrl, checks_total: 2 });
  await using later = await openPage(browser, gateway.url);
  await later.untilConnection("live");
  await next.check("check_one", [buildFinding({ check: "check_one" })], { done: 1, total: 2 });
  await later.page.locator(".trend-current circle").waitFor();
  expect(await later.page.locator(".trend-bar").count()).toBe(2);
});

test("the trend shows the organization's scans, and this one once it has ended", async () => {
  const acme = await demoTenant();
  const orgUrl = "https://trend.okta.com";
  for (const fail of [9, 7]) {
    const scan = await acme.producer.register({ org_url: orgUrl, checks_total: 10 });
    await scan.update({ status: "completed", checks_done: 10, pass: 10 - fail, fail, manual: 0 });
  }
  const other = await acme.producer.register({ org_url: "https://other.okta.com", checks_total: 10 });
  await other.update({ status: "completed", checks_done: 10, pass: 10, fail: 0, manual: 0 });
  const scan = await acme.producer.register({ org_url: orgUrl, checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await watched.untilConnection("live");
  await scan.check("check_one", [buildFinding({ check: "check_one" })], { done: 1, total: 2 });
  await page.getByRole("img", { name: "Failing checks over 2 scans: 9 → 7, 2 fewer" }).waitFor();
  await page.locator(".trend-bar").nth(2).waitFor();
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  await page.getByRole("img", { name: "Failing checks over 3 scans: 9 → 1, 8 fewer" }).waitFor();
});
