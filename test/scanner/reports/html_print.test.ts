import { expect, test } from "vitest";
import { launchChromium } from "../../support/chromium.ts";
import { cleanUp } from "../../support/clean_up.ts";
import { aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

const browser = await launchChromium();
cleanUp(() => browser.close());
const page = await (await browser.newContext()).newPage();
await page.setContent(renderAs("html", aReport(everyVerdict())));

test("the evidence of each rule that passes is folded on a screen and whole on paper", async () => {
  const passing = page.locator("section.pass article");
  const visible = () => passing.evaluateAll((all) => all.filter((each) => each.checkVisibility()).length);
  const count = await passing.count();
  expect(count).toBeGreaterThan(0);
  await page.emulateMedia({ media: "screen" });
  expect(await visible()).toBe(0);
  await page.emulateMedia({ media: "print" });
  expect(await visible()).toBe(count);
});

test.each(["screen", "print"] as const)("no V-number breaks, nothing is wider than the window: %s", async (media) => {
  await page.emulateMedia({ media });
  for (const width of [320, 700, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const lines = await page.locator(".v").evaluateAll((all) => all.map((each) => each.getClientRects().length));
    expect(Math.max(...lines), String(width)).toBe(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});
