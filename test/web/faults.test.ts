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

test("retries a full gateway after its Retry-After, and shows the countdown", async () => {
  let isFull = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isFull || !isStream(route.request())) return route.fallback();
    await refuse(route, 429, "This tenant has as many open streams as it may", { "retry-after": "2" });
  });
  await watched.untilConnection("reconnecting");
  const connection = watched.page.locator("main .connection");
  await connection.filter({ hasText: "This tenant has as many open streams as it may · next try in" }).waitFor();
  expect(await watched.page.getByRole("heading", { level: 1, name: "acme.okta.com" }).isVisible()).toBe(true);
  isFull = false;
  await watched.untilConnection("live");
  expect(await connection.textContent()).not.toContain("as many");
});

test("'Try now' ends the pause before the next retry", async () => {
  let isUnavailable = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isUnavailable || !isStream(route.request())) return route.fallback();
    await refuse(route, 503, "The broker is unavailable", { "retry-after": "600" });
  });
  await watched.page.locator("main .connection", { hasText: "The broker is unavailable · next try in" }).waitFor();
  isUnavailable = false;
  await watched.page.locator("main").getByRole("button", { name: "Try now" }).click();
  await watched.untilConnection("live");
});

test("keeps showing the scan when its stream is refused for good, and offers a retry", async () => {
  let isRefused = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isRefused || !isStream(route.request())) return route.fallback();
    await refuse(route, 403, "You may not follow this scan");
  });
  await watched.untilConnection("failed");
  await watched.page.locator("main .connection", { hasText: "You may not follow this scan" }).waitFor();
  expect(await watched.page.getByRole("heading", { level: 1, name: "acme.okta.com" }).isVisible()).toBe(true);
  isRefused = false;
  await watched.page.locator("main").getByRole("button", { name: "Try now" }).click();
  await watched.untilConnection("live");
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

test("keeps the lists while the tenant's stream is lost, says so, and reads them again", async () => {
  let isBroken = false;
  const scan = await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isBroken || !route.request().url().endsWith("/api/v1/event-stream?snapshot=1")) return route.fallback();
    await refuse(route, 503, "The database is unavailable");
  });
  const state = (name: string) => watched.page.locator(`.top .connection[data-state="${name}"]`);
  await watched.untilConnection("live");
  await openOverview(watched.page);
  await watched.page.locator(".scan-link").waitFor();
  isBroken = true;
  gateway.loseBroker();
  await state("reconnecting").filter({ hasText: "The database is unavailable" }).waitFor();
  expect(await watched.page.locator(".scan-link").count()).toBe(1);
  await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  isBroken = false;
  await watched.page.locator(".top").getByRole("button", { name: "Try now" }).click();
  await state("live").waitFor();
  await watched.page.locator(".scan-link", { hasText: "Completed" }).waitFor();
});

test("shows the lists of a gateway that has no room for a stream, and that they are not live", async () => {
  let isFull = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isFull || !route.request().url().endsWith("/api/v1/event-stream?snapshot=1")) return route.fallback();
    await refuse(route, 429, "This tenant has as many open streams as it may", { "retry-after": "1" });
  });
  await watched.page.locator('.top .connection[data-state="reconnecting"]', { hasText: "as many open" }).waitFor();
  await openOverview(watched.page);
  await watched.page.locator(".scan-link").waitFor();
  isFull = false;
  await watched.page.locator('.top .connection[data-state="live"]').waitFor();
});

test("shows that the gateway is unavailable, and can retry", async () => {
  let isUnavailable = true;
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (!isUnavailable || !isDemoSession(route.request())) return route.fallback();
    await refuse(route, 503, "Starting");
  });
  await watched.page.getByRole("heading", { name: "The gateway does not answer" }).waitFor();
  await watched.page.getByText("Starting").waitFor();
  isUnavailable = false;
  await watched.page.getByRole("button", { name: "Try again" }).click();
  await watched.untilConnection("live");
});

test("shows that it is loading until the first answer comes", async () => {
  const answered = Promise.withResolvers<void>();
  await registerScan();
  await using watched = await openWith(async (route) => {
    if (isDemoSession(route.request())) await answered.promise;
    await route.fallback();
  });
  await watched.page.getByText("Loading…").waitFor();
  answered.resolve();
  await watched.untilConnection("live");
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

function openWith(answer: (route: Route) => Promise<void>): Promise<WatchedPage> {
  const beforeOpen = async (page: Page) => void (await page.route("**/*", answer));
  return openPage(browser, gateway.url, { beforeOpen });
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
