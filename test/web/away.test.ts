import { expect, test } from "vitest";
import { openOverview, openPage, openStage, signIn } from "./watched_page.ts";

/** The lists live on one stream of the tenant: what that costs the gateway, and what becomes of it when nobody looks. */

const { browser, gateway, demoTenant } = await openStage();

const untilOpenStreams = (count: number) => expect.poll(() => gateway.openStreams()).toBe(count);

test("50 live scans move on one connection, and nothing is polled", async () => {
  const acme = await gateway.createTenant("Acme");
  gateway.setDemo(null);
  const scans = await Promise.all(
    Array.from({ length: 50 }, (_scan, index) =>
      acme.producer.register({ org_url: `https://org${index}.okta.com`, checks_total: 29 }),
    ),
  );
  await using watched = await openPage(browser, gateway.url);
  const { page, requestUrls } = watched;
  await signIn(page, acme.apiKey);
  await page.locator('.top .connection[data-state="live"]').waitFor();
  const rows = page.locator(".scan-link");
  await rows.nth(49).waitFor();
  const requestsBefore = requestUrls.length;

  await Promise.all(scans.map((scan) => scan.update({ status: "running", checks_done: 1 })));
  await expect.poll(() => rows.filter({ hasText: "1 of 29 checks" }).count()).toBe(50);
  await Promise.all(scans.map((scan) => scan.update({ checks_done: 12 })));
  await expect.poll(() => rows.filter({ hasText: "12 of 29 checks" }).count()).toBe(50);
  await Promise.all(scans.map((scan) => scan.end("completed", { pass: 20, fail: 8, manual: 1 })));
  await expect.poll(() => rows.filter({ hasText: "8 rules failed · 1 manual" }).count()).toBe(50);
  // A new one appears by itself, above the others.
  await acme.producer.register({ org_url: "https://newest.okta.com", checks_total: 29 });
  await rows.first().filter({ hasText: "newest.okta.com" }).waitFor();

  expect(await gateway.openStreams()).toBe(1);
  const requested = requestUrls.slice(requestsBefore);
  // Events are flat: the trends of the overview are read, once a minute, while events come.
  expect(requested.filter((url) => !url.includes("/api/v1/organizations"))).toEqual([]);
  expect(requested.length).toBeLessThan(4);
  expect(requestUrls.filter((url) => url.includes("/event-stream"))).toHaveLength(1);
});

test("a hidden tab keeps only the stream of its scan, and reads the lists again when it is shown", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await untilOpenStreams(0);
  await using watched = await openPage(browser, gateway.url, {
    beforeOpen: async (page) => {
      await page.clock.install();
      // Headless, every tab is visible.
      await page.addInitScript(() => {
        Object.defineProperty(document, "visibilityState", {
          get: () => Reflect.get(globalThis, "shown") ?? "visible",
        });
      });
    },
  });
  const { page } = watched;
  const look = (shown: string) =>
    page.evaluate((value) => {
      Reflect.set(globalThis, "shown", value);
      document.dispatchEvent(new Event("visibilitychange"));
    }, shown);
  await watched.untilConnection("live");
  await untilOpenStreams(2);
  await look("hidden");
  await page.clock.fastForward(20_000);
  expect(await gateway.openStreams()).toBe(2);
  await page.clock.fastForward(15_000);
  await untilOpenStreams(1);
  await scan.check("a_check", [], { done: 1, total: 2 });
  await acme.producer.register({ org_url: "https://unseen.okta.com", checks_total: 1 });
  await look("visible");
  await page.locator('.top .connection[data-state="live"]').waitFor();
  await untilOpenStreams(2);
  await openOverview(page);
  await page.locator(".scan-link", { hasText: "unseen.okta.com" }).waitFor();
});

test("a tab that was frozen while its connections broke catches up when it wakes", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await watched.untilConnection("live");
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Page.setWebLifecycleState", { state: "frozen" });
  gateway.loseBroker();
  await scan.end("completed", { pass: 2, fail: 0, manual: 0 });
  await acme.producer.register({ org_url: "https://unseen.okta.com", checks_total: 1 });
  await devTools.send("Page.setWebLifecycleState", { state: "active" });
  await openOverview(page);
  await page.locator(".scan-link", { hasText: "unseen.okta.com" }).waitFor();
  await page.locator(".scan-link", { hasText: "acme.okta.com" }).filter({ hasText: "Completed" }).waitFor();
});

test("what any key of the tenant publishes on its channel breaks nothing", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  const tenantState = watched.page.locator('.top .connection[data-state="live"]');
  await tenantState.waitFor();
  const channel = `tenant:${acme.id}:${acme.id}`;
  for (const event of [
    { type: "scan.updated", data: { id: 7, scan_id: scan.id } },
    { type: "scan.end", data: { scan_id: crypto.randomUUID() } },
    { type: "monitor.updated", data: { monitor_id: crypto.randomUUID() } },
    { type: "other.created", data: {} },
  ] as const) {
    await gateway.publisher.sendEvent(channel, event.type, event.data);
  }
  await scan.update({ status: "running", checks_done: 1 });
  await openOverview(watched.page);
  await watched.page.locator(".scan-link", { hasText: "1 of 2 checks" }).waitFor();
  expect(await tenantState.isVisible()).toBe(true);
});
