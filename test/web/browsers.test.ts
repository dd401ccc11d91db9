import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserNames, launchBrowser, type DrivenBrowser, type DrivenTab } from "../support/driven_browser.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { startWebGateway, type WebGateway } from "../support/web_gateway.ts";

/** What has to hold in every browser: the main views, and streams of many tabs. Everything else is tested in Chromium. */

let gateway: WebGateway;
beforeAll(async () => {
  gateway = await startWebGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const untilShown = (tab: DrivenTab, selector: string, text: string | RegExp) =>
  expect
    .poll(() => tab.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`), {
      timeout: 15_000,
    })
    .toMatch(text);

async function openStreams(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^scanstream_streams_open (\d+)$/m.exec(text)?.[1]);
}

describe.each(browserNames)("%s", (name) => {
  let browser: DrivenBrowser;
  beforeAll(async () => {
    browser = await launchBrowser(name);
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test("shows a scan as it runs to its end, and the wall", async () => {
    const acme = await gateway.createTenant("Acme");
    gateway.setDemo(acme);
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
    await tab.evaluate("location.hash = '#/wall'");
    await untilShown(tab, ".wall-row", /acme\.okta\.com.*1 CAT I open/);
    expect(await tab.evaluate("document.body.dataset.error ?? ''")).toBe("");
    await tab.close();
  });

  test("four tabs live on one connection, and go on when the one that has it is closed", async () => {
    const acme = await gateway.createTenant("Acme");
    gateway.setDemo(acme);
    const tabs: DrivenTab[] = [];
    for (let count = 0; count < 4; count += 1) tabs.push(await browser.openTab(`${gateway.url}/#/wall`));
    for (const tab of tabs) await untilShown(tab, ".wall-live", /^Live/);
    await expect.poll(openStreams).toBe(1);
    await tabs[0]?.close();
    const scan = await acme.producer.register({ org_url: "https://later.okta.com", checks_total: 1 });
    await scan.end("completed", { pass: 1, fail: 0, manual: 0 });
    for (const tab of tabs.slice(1)) await untilShown(tab, ".wall-row", "later.okta.com");
    await expect.poll(openStreams).toBe(1);
    for (const tab of tabs.slice(1)) await tab.close();
  });
});
