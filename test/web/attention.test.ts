import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { buildFinding } from "../support/scan_producer.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage } from "./watched_page.ts";

/** What calls a person who does not look at the page, and what a screen on a wall shows. */

const { browser, gateway, demoTenant } = await openStage();

async function scanOrg({ producer }: WebTenant, name: string, fails: Readonly<Record<string, "high" | "medium">> = {}) {
  const scan = await producer.register({ org_url: `https://${name}`, checks_total: 3 });
  const findings = Object.entries(fails).map(([check, severity]) => buildFinding({ check, severity }));
  await scan.store([...findings, buildFinding({ check: "passes", status: "PASS" })]);
  await scan.end("completed", { pass: 1, fail: findings.length, manual: 0 });
}

/** Records notifications in place of the browser's own, which a headless one does not show. */
async function recordNotifications(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shown: string[] = [];
    class Recorded extends EventTarget {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(_title: string, { body }: { readonly body: string }) {
        super();
        shown.push(body);
      }
    }
    Object.assign(globalThis, { Notification: Recorded, shown });
  });
}

const shownIn = (page: Page) => page.evaluate(() => Reflect.get(globalThis, "shown") as string[]);

test("the tab says what is worst, and one tab of a browser notifies of what is new", async () => {
  const acme = await demoTenant();
  await scanOrg(acme, "quiet.okta.com");
  await scanOrg(acme, "loud.okta.com", { one: "medium" });
  await using watched = await openPage(browser, `${gateway.url}/#/settings`, { beforeOpen: recordNotifications });
  const { page } = watched;
  await expect.poll(() => page.title()).toMatch(/^[^⚠]/);
  const second = await page.context().newPage();
  await recordNotifications(second);
  await second.goto(`${gateway.url}/#/settings`);
  const icon = () => page.locator('link[rel="icon"]').getAttribute("href");
  const plain = await icon();
  for (const tab of [page, second]) await tab.locator('.connection[data-state="live"]').first().waitFor();

  await scanOrg(acme, "loud.okta.com", { one: "medium", two: "high" });
  const bar = page.getByRole("complementary", { name: "Since you last looked" });
  await bar.getByRole("link", { name: "loud.okta.com: 1 more CAT I rule fails, 1 in all" }).waitFor();
  await expect.poll(() => page.title()).toMatch(/^⚠ 1 CAT I · /);
  expect(await icon()).not.toBe(plain);
  // Nobody is asked, and nobody is told, before a click.
  expect([...(await shownIn(page)), ...(await shownIn(second))]).toEqual([]);
  await bar.getByRole("button", { name: "Notify me" }).click();
  await scanOrg(acme, "quiet.okta.com", { three: "high" });
  for (const tab of [page, second]) await tab.getByRole("link", { name: /^quiet.okta.com: 1 more CAT I/ }).waitFor();
  const shown = [...(await shownIn(page)), ...(await shownIn(second))];
  expect(shown).toEqual(["quiet.okta.com: 1 more CAT I rule fails, 1 in all"]);

  await bar.getByRole("button", { name: "Acknowledge" }).click();
  await bar.waitFor({ state: "hidden" });
  await page.reload();
  await expect.poll(() => page.title()).toMatch(/^⚠ 2 CAT I · /);
  expect(await bar.isVisible()).toBe(false);
  gateway.setDemo(acme);
});

test("the wall names the worst organization first, and says loudly when it is not live", async () => {
  const acme = await demoTenant();
  for (let n = 0; n < 30; n += 1) await scanOrg(acme, `org${n}.okta.com`);
  await scanOrg(acme, "worst.okta.com", { one: "high", two: "medium" });
  await scanOrg(acme, "bad.okta.com", { two: "medium" });
  await using watched = await openPage(browser, `${gateway.url}/#/wall`, { viewport: { width: 1920, height: 1080 } });
  const { page } = watched;
  await page.getByRole("heading", { name: "1 of 32 organizations needs attention" }).waitFor();
  expect(await page.locator(".wall-row .wall-name").first().textContent()).toBe("worst.okta.com");
  expect(await page.locator(".wall-row .wall-name").nth(1).textContent()).toBe("bad.okta.com");
  expect(await page.locator("button, a, input").count()).toBe(0);
  // Three meters: a capital of a fiftieth of a meter on a screen whose height is half a meter.
  const size = await page
    .locator(".wall-name")
    .first()
    .evaluate((name) => parseFloat(getComputedStyle(name).fontSize));
  expect(size).toBeGreaterThan(1080 / 18);
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(1080);
  await gateway.stop();
  await page.getByRole("alert").filter({ hasText: "NOT LIVE" }).waitFor();
  await page.getByRole("heading", { name: "Last known: 1 of 32 organizations needs attention" }).waitFor();
  await expect.poll(() => page.title()).toMatch(/^⚠ not live/);
  // Nothing can be read for it now.
  const isIconDrawn = await page.evaluate(async () => {
    const icon = new Image();
    icon.src = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
    return icon.decode().then(
      () => true,
      () => false,
    );
  });
  expect(isIconDrawn).toBe(true);
  await gateway.start();
  await page.getByRole("alert").waitFor({ state: "detached", timeout: 20_000 });
});
