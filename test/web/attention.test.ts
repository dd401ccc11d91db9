import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { buildFinding } from "../support/scan_producer.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage } from "./watched_page.ts";

/** What calls a person who does not look at the page. */

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
