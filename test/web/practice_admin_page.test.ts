import { afterAll, expect, test } from "vitest";
import { startOrg } from "../practice_org/start_org.ts";
import { launchChromium } from "../support/chromium.ts";
import { expectAccessible } from "./accessible.ts";
import { openPage } from "./watched_page.ts";

const browser = await launchChromium();
afterAll(() => browser.close());

test("A change is made with the keyboard alone, announced, and the focus goes to what undoes it", async () => {
  const org = await startOrg();
  await using page = await openPage(browser, org.url);
  await expectAccessible(page, "the admin page");
  const first = await page.locator("form h3").first().boundingBox();
  expect((first?.y ?? Number.NaN) + (first?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
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
