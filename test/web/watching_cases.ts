import type { Browser } from "playwright-core";
import { expect } from "vitest";
import { buildFinding, type ScanProducer } from "../support/scan_producer.ts";
import { openPage, signIn, type WatchedPage } from "./watched_page.ts";

/** What the page promises over any gateway: each case is written once, and run on every runtime that serves the page. */
export interface WatchingTenant {
  readonly apiKey: string;
  /** A member's JWT. */
  readonly accessToken: string;
  readonly producer: ScanProducer;
}

/** `secret` is an API key or a token of the tenant whose producer it is. */
export async function signsInWithoutLeaking(
  browser: Browser,
  url: string,
  { secret, producer }: { readonly secret: string; readonly producer: ScanProducer },
): Promise<void> {
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using watched = await openPage(browser, `${url}/#/scans/${scan.id}`);
  const { page } = watched;
  const streamAuthorizations: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (isStream(request.url())) streamAuthorizations.push(request.headers()["authorization"]);
  });
  await signIn(page, `  ${secret}\n`);
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await watched.untilConnection("live");
  expect(watched.requestUrls.filter((requested) => requested.includes(secret))).toEqual([]);
  expect(await page.content()).not.toContain(secret);
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).toBe('[{},{},""]');
  expect(await page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
  // The tenant's and the scan's, each with the credential in a header.
  expect(streamAuthorizations).toHaveLength(2);
  for (const authorization of streamAuthorizations) expect(authorization).toMatch(/^(?:Bearer|Api-Key) \S+$/);

  await page.reload();
  await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
}

/** From a tenant without scans to the end of its first; `openScan` is how the page gets to it. */
export async function followsScanToItsEnd(
  watched: WatchedPage,
  producer: ScanProducer,
  openScan: () => Promise<void>,
): Promise<void> {
  const { page } = watched;
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
  await page.evaluate(() => Reflect.set(globalThis, "isStillThere", true));

  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 4 });
  await openScan();
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await watched.untilConnection("live");
  await page.getByText("Findings appear here as the scan makes them.").waitFor();

  await scan.publish("scan.start", { checks_total: 4 });
  const idle = buildFinding({ resource_name: "Default Policy", actual: "never" });
  await scan.check("signon_global_session_idle_timeout_15min", [buildFinding({ status: "PASS" }), idle], {
    done: 1,
    total: 4,
  });
  await page.locator(".progress-figures", { hasText: "1of 4 checks" }).waitFor();
  // The findings are other events, and may come a moment later.
  await expect.poll(() => page.locator(".tile.tone-fail dd").textContent()).toBe("1");
  expect(await page.locator(".progress-latest").textContent()).toBe(
    "FailOkta must log out a session after a 15-minute period of inactivity.",
  );
  expect(await page.locator(".checks-table tbody tr").count()).toBe(1);
  expect(await page.locator(".finding").count()).toBe(2);

  await page.locator(".finding summary", { hasText: "Default Policy" }).click();
  const opened = page.locator(".finding[open]");
  await opened.getByText("never", { exact: true }).waitFor();
  expect(await opened.locator(".fact-expected").textContent()).toBe("at most 15 minutes");
  await opened.getByText("Global Session Policy").first().waitFor();

  await scan.check(
    "apitoken_not_super_admin",
    [buildFinding({ check: "apitoken_not_super_admin", status: "MANUAL" })],
    { done: 2, total: 4 },
  );
  await scan.check(
    "systemlog_streaming_enabled",
    [buildFinding({ check: "systemlog_streaming_enabled", status: "PASS", severity: "high" })],
    { done: 3, total: 4 },
  );
  const inactivity = "user_inactivity_automation_35d_enabled";
  await scan.check(inactivity, [buildFinding({ check: inactivity, status: "MANUAL", reason: "not_applicable" })], {
    done: 4,
    total: 4,
  });
  await page.locator(".progress-figures", { hasText: "4of 4 checks" }).waitFor();
  await scan.end("completed", { pass: 1, fail: 1, manual: 1, not_applicable: 1 });
  await watched.untilConnection("ended");
  await page.locator(".scan-title .badge", { hasText: "Completed" }).waitFor();
  expect(await page.locator(".tile dd").allTextContents()).toEqual(["1", "1", "1", "1"]);
  expect(await page.getByRole("button", { name: "Cancel scan" }).isVisible()).toBe(false);
  expect(await page.evaluate(() => Reflect.get(globalThis, "isStillThere"))).toBe(true);
}

/** The address of a stream. */
function isStream(url: string): boolean {
  return new URL(url).pathname.endsWith("/event-stream");
}

export interface Interruption {
  /** Ends the page's stream. */
  readonly cut: () => Promise<void>;
  /** What the page shows as its reason. */
  readonly reason?: string;
  /** Makes a new stream possible. */
  readonly mend?: () => Promise<void>;
}

/** Of the page's client, between two tries, with some time to connect. */
const longestPauseMs = 35_000;

/** The page is signed in as the producer's tenant; the scan is new. */
export async function recoversAfter(
  { cut, reason, mend }: Interruption,
  watched: WatchedPage,
  { producer, gatewayUrl }: { readonly producer: ScanProducer; readonly gatewayUrl: string },
): Promise<void> {
  const { page } = watched;
  const scan = await producer.register({ org_url: "https://cut.okta.com", checks_total: 4 });
  await page.goto(`${gatewayUrl}/#/scans/${scan.id}`);
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
    (url) => isStream(url.href),
    async (route) => {
      await stored.promise;
      await route.continue();
    },
  );
  await cut();
  await watched.untilConnection("reconnecting");
  if (reason !== undefined) await page.locator("main .connection", { hasText: reason }).waitFor();
  // What was known stays on the page, which does not claim to be live.
  expect(await page.locator(".finding", { hasText: "Before" }).isVisible()).toBe(true);
  await mend?.();
  // No event is published for these: only a refetch shows them.
  await scan.store([buildFinding({ check: "second_check", resource_name: "Missed" })]);
  await scan.update({ checks_done: 2 });
  stored.resolve();
  // After a long outage the next retry comes after a long pause.
  await watched.untilConnection("live", longestPauseMs);
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
}

/** The tenants are called Acme and Globex, and have no scans. */
export async function isolatesTenants(
  browser: Browser,
  url: string,
  tenants: { readonly acme: WatchingTenant; readonly globex: WatchingTenant },
): Promise<void> {
  const scans = {
    acme: await tenants.acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 }),
    globex: await tenants.globex.producer.register({ org_url: "https://globex.okta.com", checks_total: 1 }),
  };
  await using acme = await openPage(browser, url);
  await using globex = await openPage(browser, url);
  for (const [watched, secret, own] of [
    [acme, tenants.acme.accessToken, "acme.okta.com"],
    [globex, tenants.globex.apiKey, "globex.okta.com"],
  ] as const) {
    await signIn(watched.page, secret);
    await watched.page.locator(".scan-link").click();
    await watched.page.getByRole("heading", { level: 1, name: own }).waitFor();
    await watched.untilConnection("live");
  }
  await scans.acme.check("a", [buildFinding({ check: "a", resource_name: "Acme secret" })], { done: 1, total: 1 });
  await scans.globex.check("a", [buildFinding({ check: "a", resource_name: "Globex secret" })], { done: 1, total: 1 });
  await acme.page.locator(".finding", { hasText: "Acme secret" }).waitFor();
  await globex.page.locator(".finding", { hasText: "Globex secret" }).waitFor();
  expect(await acme.page.content()).not.toMatch(/globex/i);
  expect(await globex.page.content()).not.toMatch(/acme/i);

  await acme.page.goto(`${url}/#/scans/${scans.globex.id}`);
  await acme.page.getByRole("heading", { name: "This scan cannot be shown" }).waitFor();
  expect(await acme.connection()).toBe("failed");
  expect(await acme.page.content()).not.toMatch(/globex/i);
}
