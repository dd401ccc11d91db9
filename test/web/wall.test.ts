import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openPage, openStage } from "./watched_page.ts";

/** A screen on a wall stands for days, and nobody touches it. */

const { browser, gateway, demoTenant } = await openStage();

/** In place of the browser's own wake locks, of which a headless one has none. */
async function recordWakeLocks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const locks: EventTarget[] = [];
    const request = async () => {
      const lock = Object.assign(new EventTarget(), { release: async () => undefined });
      locks.push(lock);
      return lock;
    };
    Object.defineProperty(navigator, "wakeLock", { value: { request } });
    Object.assign(globalThis, { locks });
  });
}

test("goes on past midnight, keeps the screen awake, and loads itself again when the page is a new one", async () => {
  const { producer } = await demoTenant();
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 0 });
  await scan.end("completed", { pass: 1, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/wall`, {
    timezoneId: "UTC",
    beforeOpen: async (page) => {
      await page.clock.install();
      await recordWakeLocks(page);
    },
  });
  const { page } = watched;
  const clock = page.locator(".wall-live", { hasText: "Live" });
  await clock.waitFor();
  const lockCount = () => page.evaluate(() => (Reflect.get(globalThis, "locks") as EventTarget[]).length);
  await expect.poll(lockCount).toBe(1);

  // The browser takes it while the page is shown, because the battery is low.
  await page.evaluate(() => {
    const [lock] = Reflect.get(globalThis, "locks") as EventTarget[];
    lock?.dispatchEvent(new Event("release"));
  });
  expect(await lockCount()).toBe(1);
  await page.clock.runFor(5000);
  await expect.poll(lockCount).toBe(2);

  const toMidnightMs = 86_400_000 - (await page.evaluate(() => Date.now() % 86_400_000));
  await page.clock.fastForward(toMidnightMs + 1000);
  await clock.filter({ hasText: /00:00:\d\d/ }).waitFor();
  const later = await producer.register({ org_url: "https://later.okta.com", checks_total: 0 });
  await later.end("completed", { pass: 0, fail: 1, manual: 0 });
  await page.locator(".wall-row", { hasText: "later.okta.com" }).waitFor();

  // The same page is kept, and another one is loaded.
  await page.evaluate(() => (document.documentElement.dataset["first"] = ""));
  const first = page.locator("html[data-first]");
  const look = async () => {
    const asked = page.waitForResponse((response) => response.url() === `${gateway.url}/`);
    await page.clock.runFor(600_000);
    await asked;
  };
  await look();
  expect(await first.count()).toBe(1);
  await page.route(`${gateway.url}/`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/(page-[0-9a-f]+\.js)/, "$1?new") });
  });
  await page.clock.runFor(600_000);
  await first.waitFor({ state: "detached" });
});
