import type { Browser, Page, Request, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { buildFinding, type ProducedScan } from "../support/scan_producer.ts";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startWebGateway, type WebGateway } from "../support/web_gateway.ts";
import { type WatchedPage, openOverview, openPage } from "./watched_page.ts";

/** What a gateway, or a proxy before it, may do wrong: a real gateway, some of whose answers the browser replaces. */
let browser: Browser;
let gateway: WebGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchChromium(), startWebGateway()]);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

test("shows why a stream is refused and when it tries again; 'Try now' ends the pause, and a final refusal", async () => {
  let refusal: readonly [status: number, detail: string] | null = [
    429,
    "This tenant has as many open streams as it may",
  ];
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (refusal === null || !isStream(route.request())) return route.fallback();
    await refuse(route, ...refusal, { "retry-after": "600" });
  });
  const main = watched.page.locator("main");
  const retry = async () => {
    expect(await main.getByRole("heading", { level: 1, name: "acme.okta.com" }).isVisible()).toBe(true);
    await main.getByRole("button", { name: "Try now" }).click();
  };
  await watched.untilConnection("reconnecting");
  await main
    .locator(".connection", { hasText: "This tenant has as many open streams as it may · next try in" })
    .waitFor();
  refusal = [403, "You may not follow this scan"];
  await retry();
  await watched.untilConnection("failed");
  await main.locator(".connection", { hasText: "You may not follow this scan" }).waitFor();
  refusal = null;
  await retry();
  await watched.untilConnection("live");
  expect(await main.locator(".connection").textContent()).not.toContain("may not");
});

test("shows every finding after a stream that was cut three times", async () => {
  const scan = await registerScan();
  const { hostname, port } = new URL(gateway.url);
  const network = await startTcpProxy({ host: hostname, port: Number(port) });
  await using watched = await openPage(browser, `http://127.0.0.1:${network.port}`);
  for (let count = 1; count <= 3; count += 1) {
    await watched.untilConnection("live");
    network.cut();
    const check = `check_${count}`;
    await scan.check(check, [buildFinding({ check, resource_name: `Finding ${count}` })], { done: count, total: 3 });
    await watched.untilConnection("reconnecting");
    await watched.page.locator("main").getByRole("button", { name: "Try now" }).click();
  }
  await watched.untilConnection("live");
  await scan.end("completed", { pass: 0, fail: 3, manual: 0 });
  await watched.untilConnection("ended");
  await expect.poll(() => watched.page.locator(".finding").count()).toBe(3);
  await network.close();
});

test("retries after a proxy's error page, without showing its markup", async () => {
  let isBroken = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isBroken || !route.request().url().includes("/findings")) return route.fallback();
    await route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" });
  });
  await watched.untilConnection("reconnecting");
  await watched.page.locator("main .connection", { hasText: "answered with status 502" }).waitFor();
  isBroken = false;
  await watched.untilConnection("live");
});

test("keeps what is known of a tenant whose stream is refused or lost, says so, and reads it again", async () => {
  let refusal: readonly [status: number, detail: string] | null = [
    429,
    "This tenant has as many open streams as it may",
  ];
  const scan = await registerScan();
  await using watched = await openWith(async (route) => {
    if (refusal === null || !route.request().url().endsWith("/api/v1/event-stream?snapshot=1")) return route.fallback();
    await refuse(route, ...refusal, { "retry-after": "1" });
  });
  const { page } = watched;
  const untilState = (name: string, text = "") =>
    page.locator(`.top .connection[data-state="${name}"]`, { hasText: text }).waitFor();
  await untilState("reconnecting", "as many open");
  await openOverview(page);
  await page.locator(".scan-link").waitFor();
  // Nothing says that it is alive, and no count is of what was not read.
  await page.locator(".organization", { hasText: "acme.okta.com" }).waitFor();
  refusal = null;
  await untilState("live");
  refusal = [503, "The database is unavailable"];
  gateway.loseBroker();
  await untilState("reconnecting", "The database is unavailable");
  expect(await page.locator(".scan-link").count()).toBe(1);
  await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  refusal = null;
  await page.locator(".top").getByRole("button", { name: "Try now" }).click();
  await untilState("live");
  await page.locator(".scan-link", { hasText: "Completed" }).waitFor();
});

test("shows that it is loading until the first answer comes, that the gateway is unavailable, and can retry", async () => {
  const answered = Promise.withResolvers<void>();
  let isUnavailable = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isUnavailable || !isDemoSession(route.request())) return route.fallback();
    await answered.promise;
    await refuse(route, 503, "Starting");
  });
  await watched.page.getByText("Loading…").waitFor();
  answered.resolve();
  await watched.page.getByRole("heading", { name: "The gateway does not answer" }).waitFor();
  await watched.page.getByText("Starting").waitFor();
  isUnavailable = false;
  await watched.page.getByRole("button", { name: "Try again" }).click();
  await watched.untilConnection("live");
});

test("no view states what was not read, of a gateway that does not answer, or answers half", async () => {
  let isHalf = false;
  const scan = await registerScan();
  await using watched = await openWith(async (route) => {
    const url = route.request().url();
    if (!url.includes("/api/v1/") || url.endsWith("/session")) return route.fallback();
    if (isHalf) await route.fulfill({ contentType: "application/json", body: '{"items":[{"id"' });
  });
  const { page } = watched;
  for (const words of [/Loading/, /could not be read|cannot be/]) {
    await page.reload();
    for (const hash of ["#/", `#/organizations/${scan.id}`, `#/monitors/${scan.id}`]) {
      await page.evaluate((next) => (location.hash = next), hash);
      const main = page.locator("main");
      await main.getByText(words).first().waitFor();
      expect(await main.textContent(), hash).not.toMatch(/No scans|No organi|nothing open|Live, read|\d rule/i);
    }
    isHalf = true;
  }
});

test("renews the demo's token when the gateway no longer accepts it", async () => {
  let refusals = 0;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (refusals > 0 || !isStream(route.request())) return route.fallback();
    refusals += 1;
    await refuse(route, 401, "The token has expired");
  });
  await watched.untilConnection("live");
  expect(watched.requestUrls.filter((url) => url.endsWith("/demo/session"))).toHaveLength(2);
});

/** The only scan of a new tenant, which is the one that the page signs in as. */
async function registerScan(): Promise<ProducedScan> {
  const tenant = await gateway.createTenant(`Acme ${crypto.randomUUID()}`);
  gateway.setDemo(tenant);
  return tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
}

function openWith(answer: (route: Route) => Promise<void>, hash = ""): Promise<WatchedPage> {
  const beforeOpen = async (page: Page) => void (await page.route("**/*", answer));
  return openPage(browser, `${gateway.url}/${hash}`, { beforeOpen });
}

function isStream(request: Request): boolean {
  return /\/scans\/[^/]+\/event-stream\?snapshot=1$/.test(request.url());
}

function isDemoSession(request: Request): boolean {
  return request.url().endsWith("/demo/session");
}

function refuse(route: Route, status: number, detail: string, headers: Record<string, string> = {}): Promise<void> {
  return route.fulfill({
    status,
    headers: { "content-type": "application/problem+json", ...headers },
    body: JSON.stringify({ type: "about:blank", title: "Refused", status, detail, code: "refused" }),
  });
}
