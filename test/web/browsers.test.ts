import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserNames, launchBrowser, type DrivenBrowser, type DrivenTab } from "../support/driven_browser.ts";
import { aChange } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { startWebGateway, type WebGateway } from "../support/web_gateway.ts";

/** What has to hold in every browser: the main views, and streams of many tabs. Everything else is tested in Chromium. */

let gateway: WebGateway;
beforeAll(async () => {
  gateway = await startWebGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A tenant as whom the page signs in by itself. */
async function signedIn() {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(tenant);
  return tenant;
}

const untilShown = (tab: DrivenTab, selector: string, text: string | RegExp) =>
  expect
    .poll(() => tab.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`), {
      timeout: 15_000,
    })
    .toMatch(text);

describe.each(browserNames)("%s", (name) => {
  let browser: DrivenBrowser;
  beforeAll(async () => {
    browser = await launchBrowser(name);
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test("shows a scan as it runs to its end, calls until it is acknowledged, and shows the wall", async () => {
    const acme = await signedIn();
    const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
    const tab = await browser.openTab(`${gateway.url}/#/scans/${scan.id}`);
    // On the document, because Firefox runs each script in a world of its own.
    await tab.evaluate("addEventListener('error', ({ message }) => (document.body.dataset.error = message))");
    await untilShown(tab, "main .connection", /^Live/);
    await scan.check("one", [buildFinding({ check: "one", severity: "high", resource_name: "A policy" })], {
      done: 1,
      total: 2,
    });
    await untilShown(tab, ".finding", "A policy");
    await scan.end("completed", { pass: 1, fail: 1, manual: 0 });
    await untilShown(tab, "main .connection", /^Ended/);
    // It calls, on the page of a scan, on a monitor's and on the overview, until somebody acknowledges.
    await untilShown(tab, ".attention:not([hidden])", "acme.okta.com: 1 more CAT I rule fails, 1 in all");
    expect(await tab.evaluate("document.title")).toMatch(/^⚠ 1 CAT I · /);
    await tab.evaluate("document.querySelector('.attention button:last-of-type').click()");
    await untilShown(tab, ".attention[hidden]", "0 since");
    const monitor = await produceMonitor(gateway.url, acme.apiKey);
    await monitor.store([aChange({ from: null, cause: "start", explained_by: [] })]);
    await tab.evaluate(`location.hash = '#/monitors/${monitor.id}'`);
    await untilShown(tab, "main .connection", /^Live/);
    await monitor.store([aChange({ cause: "reconciliation", explained_by: [] })]);
    await monitor.update({ pass: 26, fail: 2 });
    await untilShown(tab, ".change-unexplained", "Unexplained");
    await untilShown(tab, ".attention:not([hidden])", /^1 since.*no log event says why/);
    await tab.evaluate("location.hash = '#/'");
    await untilShown(tab, ".organization", "acme.okta.com");
    await tab.evaluate("document.querySelector('.attention button:last-of-type').click()");
    await untilShown(tab, ".attention[hidden]", "0 since");
    await tab.evaluate("location.hash = '#/wall'");
    await untilShown(tab, ".wall-row", /acme\.okta\.com.*1 CAT I/);
    expect(await tab.evaluate("document.body.dataset.error ?? ''")).toBe("");
    await tab.close();
  });

  test("eight tabs, each with a scan that runs, are live on one connection, and go on without the one that had it", async () => {
    const { producer } = await signedIn();
    const scans = await Promise.all(
      Array.from({ length: 8 }, (_, n) => producer.register({ org_url: `https://org${n}.okta.com`, checks_total: 1 })),
    );
    const tabs: DrivenTab[] = [];
    for (const { id } of scans) tabs.push(await browser.openTab(`${gateway.url}/#/scans/${id}`));
    const untilEach = async (selector: string, toText: (n: number) => string | RegExp) => {
      for (const [n, tab] of tabs.entries()) await untilShown(tab, selector, toText(n));
    };
    for (const place of [".top", "main"]) await untilEach(`${place} .connection`, () => /^Live/);
    await expect.poll(() => gateway.openStreams()).toBe(1);
    for (const [n, scan] of scans.entries()) {
      await scan.check("one", [buildFinding({ check: "one", resource_name: `Policy ${n}` })], { done: 1, total: 1 });
    }
    await untilEach(".finding", (n) => `Policy ${n}`);
    for (const scan of scans) await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
    await untilEach("main .connection", () => /^Ended/);
    await tabs.shift()?.close();
    for (const tab of tabs) await tab.evaluate("location.hash = '#/'");
    await producer.register({ org_url: "https://later.okta.com", checks_total: 1 });
    await untilEach(".scan-list", () => "later.okta.com");
    await expect.poll(() => gateway.openStreams()).toBe(1);
    for (const tab of tabs) await tab.close();
  });
});
