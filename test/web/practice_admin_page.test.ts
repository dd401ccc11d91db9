import type { BrowserContextOptions } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { startOrg } from "../practice_org/start_org.ts";
import { launchChromium } from "../support/chromium.ts";
import { expectAccessible } from "./accessible.ts";
import { openPage } from "./watched_page.ts";

const browser = await launchChromium();
afterAll(() => browser.close());

const phone = { width: 360, height: 740 };

test.for<[string, BrowserContextOptions]>([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["on a phone", { viewport: phone }],
])("axe finds no violation on the practice org's admin page, %s", async ([name, options]) => {
  const org = await startOrg();
  org.change("mfa-off");
  await using watched = await openPage(browser, org.url, options);
  const { page } = watched;
  await page.getByRole("heading", { level: 1, name: "Typical practice org" }).waitFor();
  await expectAccessible(page, name);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});

test("A change is made with the keyboard alone, announced, and the focus goes to what undoes it", async () => {
  const org = await startOrg();
  await using watched = await openPage(browser, org.url);
  const { page } = watched;
  await page.getByLabel("You are").selectOption("sam@practice.example");
  const button = page.getByRole("button", { name: "Turn off MFA for the Admin Console" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "Done: Turn off MFA for the Admin Console" }).waitFor();
  await page
    .locator("#log li")
    .filter({ hasText: "policy.rule.update" })
    .filter({ hasText: "by Sam Security" })
    .waitFor();
  await page.locator("#now-mfa-off").filter({ hasText: "a password alone" }).waitFor();
  expect(await button.isDisabled()).toBe(true);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toBe("Turn on MFA for the Admin Console");
});

test("What others change appears without a reload, and the choice of the admin stays", async () => {
  const org = await startOrg();
  await using watched = await openPage(browser, org.url);
  const { page } = watched;
  await page.getByLabel("You are").selectOption("dana@practice.example");
  org.change("log-stream-off");
  await page.locator("#now-log-stream-off").filter({ hasText: "INACTIVE" }).waitFor();
  expect(await page.getByLabel("You are").inputValue()).toBe("dana@practice.example");
});

test("Without scripts the same buttons load the page again", async () => {
  const org = await startOrg();
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(org.url);
    await page.getByLabel("You are").selectOption("dana@practice.example");
    await page.getByRole("button", { name: "Turn off MFA for the Admin Console" }).click();
    await page.getByRole("status").filter({ hasText: "Done: Turn off MFA" }).waitFor();
    expect(await page.getByLabel("You are").inputValue()).toBe("dana@practice.example");
    expect(await page.locator("#log li").first().textContent()).toContain("by Dana Duty");
  } finally {
    await context.close();
  }
});
