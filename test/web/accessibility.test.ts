import { expect, test } from "vitest";
import { aChange } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { tabTo } from "./accessible.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway } = await openStage();

test("an organization can be used with the keyboard alone", async () => {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(tenant);
  const monitor = await produceMonitor(gateway.url, tenant.apiKey);
  await monitor.store([aChange(), aChange({ cause: "reconciliation", explained_by: [] })]);
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await page.locator(".organization-link").waitFor();
  await tabTo(page, ".organization-link");
  await page.keyboard.press("Enter");
  await watched.untilConnection("live");
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  await page.locator(".change").nth(1).waitFor();
  await tabTo(page, ".timeline-unexplained");
  await page.keyboard.press("Space");
  await expect.poll(() => page.locator(".timeline .change").count()).toBe(1);
  await tabTo(page, ".finding summary");
  await page.keyboard.press("Enter");
  await page.locator(".history .change").nth(1).waitFor();
  gateway.setDemo(null);
});

test("/ searches, and j and k go through the rows; not in a field, in a dialog, or with a modifier", async () => {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(tenant);
  const monitor = await produceMonitor(gateway.url, tenant.apiKey);
  await monitor.store([aChange({ fingerprint: "one" }), aChange({ fingerprint: "two" })]);
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  const focus = () => page.evaluate(() => document.activeElement?.closest("[id], .organization-link")?.id ?? "");
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.locator(".organization-link").waitFor();
  await press("j", "Enter");
  await watched.untilConnection("live");
  await page.locator(".finding").nth(1).waitFor();
  await expect.poll(focus).toBe("main");
  await press("j", "j", "j");
  const [first, second] = await page.locator(".finding").evaluateAll((rows) => rows.map(({ id }) => id));
  expect(await focus()).toBe(second);
  await press("Alt+k", "Control+k");
  expect(await focus()).toBe(second);
  await press("k");
  expect(await focus()).toBe(first);
  await press("Enter");
  await page.locator(".finding[open]").getByRole("button", { name: "Waive…" }).click();
  await page.getByRole("dialog").waitFor();
  await press("/");
  expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("/", "j", "k");
  expect(await page.getByRole("searchbox").inputValue()).toBe("jk");
  gateway.setDemo(null);
});

test("can be used with the keyboard alone", async () => {
  const tenant = await gateway.createTenant("Acme");
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await scan.store([buildFinding({ resource_name: "Default Policy" })]);
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
  // The field has the focus already.
  await page.keyboard.type(tenant.apiKey);
  await page.keyboard.press("Enter");
  await page.locator(".scan-link").waitFor();
  await tabTo(page, ".scan-link");
  await page.keyboard.press("Enter");
  await watched.untilConnection("live");
  // Opening the scan has moved the focus into it.
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  await page.locator(".finding").waitFor();
  await tabTo(page, ".finding summary");
  await page.keyboard.press("Enter");
  await page.locator(".finding[open] .fix").waitFor();
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
  expect(outline).toBe("solid");
});

test("announces progress to a screen reader through a polite live region", async () => {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(tenant);
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await watched.untilConnection("live");
  await scan.check("check_one", [buildFinding({ check: "check_one" })], { done: 1, total: 2 });
  await page
    .locator('[aria-live="polite"]', { hasText: "1 of 2 checks done: 0 passed, 1 failed, 0 need manual review, 0 N/A" })
    .waitFor({ state: "attached" });
  const bar = page.getByRole("progressbar", { name: "Progress" });
  expect(await bar.getAttribute("aria-valuenow")).toBe("1");
  expect(await bar.getAttribute("aria-valuemax")).toBe("2");
  gateway.setDemo(null);
});
