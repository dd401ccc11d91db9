import { expect, test } from "vitest";
import { aChange } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { member } from "../support/test_gateway.ts";
import { tabTo } from "./accessible.ts";
import { openPage, openStage } from "./watched_page.ts";

/** The page without a pointer. */

const { browser, gateway, demoTenant } = await openStage();

test("an organization can be used with the keyboard alone", async () => {
  const tenant = await demoTenant();
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
});

test("/ searches, and j and k go through the rows; not in a field, in a dialog, or with a modifier", async () => {
  const tenant = await demoTenant();
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
});

test("signing in, a scan and a finding can be used with the keyboard alone", async () => {
  const tenant = await gateway.createTenant("Acme");
  gateway.setDemo(null);
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await scan.store([buildFinding({ resource_name: "Default Policy" })]);
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
  // The field takes the focus by itself.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
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

test("a finding is waived with the keyboard alone, and the focus comes back", async () => {
  const tenant = await demoTenant();
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await scan.store([buildFinding()]);
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await page.locator(".finding summary").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Waive…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await expect.poll(focused).toBe("Waive…");
  // The browser gives the focus back before the page hears that the dialog was closed.
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  for (let presses = 0; (await page.evaluate(() => document.activeElement?.tagName)) !== "TEXTAREA"; presses += 1) {
    expect(presses).toBeLessThan(10);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("Moves in January");
  for (let presses = 0; (await focused()) !== "Waive"; presses += 1) {
    expect(presses).toBeLessThan(15);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.locator(".finding .badge").waitFor();
  // The button is gone; its finding is not.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("SUMMARY");
});

test("a member is removed with the keyboard alone, and the focus stays in the page", async () => {
  const tenant = await demoTenant();
  await gateway.addMember(tenant, member, "admin");
  await gateway.addMember(tenant, "bob", "viewer");
  await using watched = await openPage(browser, `${gateway.url}/#/settings/members`);
  const { page } = watched;
  await page.getByRole("button", { name: "Remove bob" }).waitFor();
  await tabTo(page, '[aria-label="Remove bob"]');
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Remove bob");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "dialog .tone-fail");
  await page.keyboard.press("Enter");
  await page.getByText("Removed bob").waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe("outcome");
});
