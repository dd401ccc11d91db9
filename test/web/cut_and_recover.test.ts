import type { Page, Request, Route } from "playwright-core";
import { expect, test } from "vitest";
import { buildFinding, type ProducedScan } from "../support/scan_producer.ts";
import { type WatchedPage, openOverview, openPage, openStage } from "./watched_page.ts";

/** What a gateway, or a proxy before it, may do wrong: a real gateway, some of whose answers the browser replaces. */

const { browser, gateway, demoTenant } = await openStage();

test("shows the current state after the broker was cut", async () => {
  const { producer } = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  const scan = await producer.register({ org_url: "https://cut.okta.com", checks_total: 4 });
  await page.goto(`${gateway.url}/#/scans/${scan.id}`);
  await watched.untilConnection("live");
  await scan.check("first_check", [buildFinding({ check: "first_check", resource_name: "Before" })], {
    done: 1,
    total: 4,
  });
  await page.locator(".finding summary", { hasText: "Before" }).click();
  // Its details are read, so that from here on only a refetch finds out what is stored.
  await page.locator(".fact-actual", { hasText: "120 minutes" }).waitFor();

  // A page that reconnects faster than this test can store would miss nothing.
  const stored = Promise.withResolvers<void>();
  await page.route(
    (url) => url.pathname.endsWith("/event-stream"),
    async (route) => {
      await stored.promise;
      await route.continue();
    },
  );
  gateway.loseBroker();
  await watched.untilConnection("reconnecting");
  await page.locator("main .connection", { hasText: "the gateway lost its broker" }).waitFor();
  // The page keeps the earlier state, and does not claim to be live.
  expect(await page.locator(".finding", { hasText: "Before" }).isVisible()).toBe(true);
  // No event is published for these: only a refetch shows them.
  await scan.store([buildFinding({ check: "second_check", resource_name: "Missed" })]);
  await scan.update({ checks_done: 2 });
  stored.resolve();
  await watched.untilConnection("live");
  await page.locator(".finding", { hasText: "Missed" }).waitFor();
  await page.locator(".progress-figures", { hasText: "2of 4 checks" }).waitFor();
  await page.locator("main .connection", { hasText: "read again" }).waitFor();

  await scan.check("third_check", [buildFinding({ check: "third_check", resource_name: "Live again" })], {
    done: 3,
    total: 4,
  });
  await page.locator(".finding", { hasText: "Live again" }).waitFor();
  await scan.end("completed", { pass: 0, fail: 3, manual: 0 });
  await watched.untilConnection("ended");
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
  const { producer } = await demoTenant();
  return producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
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
