import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { expectAccessible } from "./accessible.ts";
import { scenes, showScene, type Scene } from "./shot_scenes.ts";
import { openShotStage, type ShotStage } from "./shot_stage.ts";

/** What holds in each view and state of which `npm run screenshots` takes pictures. */
let browser: Browser;
let stage: ShotStage;
/** One for all views: a new one for each takes more CPU time. */
let page: Page;
beforeAll(async () => {
  [browser, stage] = await Promise.all([launchChromium(), openShotStage()]);
  page = await browser.newPage({ reducedMotion: "reduce" });
});
afterAll(async () => {
  await browser.close();
  await stage[Symbol.asyncDispose]();
});

/** https://web.dev/articles/cls: up to 0.1 is good. */
const maxLayoutShift = 0.05;

test.each(scenes)(
  "$name: axe finds nothing in light, dark or forced colors, nothing moves or is cut off",
  async (scene) => {
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await page.setViewportSize({ width: 1440, height: 900 });
    try {
      await showScene(stage, scene, async (url) => {
        // Another query is another document, and one of the same origin needs no new process of the browser.
        await page.goto(url.replace("/#", `/?${scene.name}#`));
        return { evaluate: (expression) => page.evaluate(expression) };
      });
      // What somebody unfolds may move what is below it.
      if (scene.clicks === undefined && scene.away === undefined && scene.isLongAgo === undefined) {
        expect(await layoutShift(page)).toBeLessThanOrEqual(maxLayoutShift);
      }
      // Nothing happened since the page was opened: what was bad before calls nobody.
      expect(await page.locator(".attention:not([hidden])").count()).toBe(scene.isLongAgo === true ? 1 : 0);
      await expectAccessible(page, scene.name);
      // The rows of four organizations fifty times over.
      const isLarge = scene.tenant === "large";
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 320, height: 800 });
      if (!isLarge) await expectAccessible(page, `${scene.name}, dark at 320 px`);
      await expectFitting(page, scene);
      await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      await page.setViewportSize({ width: 640, height: 800 });
      await expectFitting(page, scene);
      await page.emulateMedia({ forcedColors: "active" });
      if (!isLarge) await expectAccessible(page, `${scene.name}, forced colors, text of 200 %`, ["cat.color"]);
    } finally {
      if (scene.away !== undefined) await stage.awayGateway.start();
    }
  },
);

/** Names what is cut off. */
async function expectFitting(page: Page, { name }: Scene): Promise<void> {
  const cutOff = await page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("#page *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map(({ tagName, className, textContent }) => `${tagName} ${className} ${textContent.slice(0, 60)}`),
  );
  expect(cutOff, name).toEqual([]);
}

/** What moved while it loaded, https://developer.mozilla.org/docs/Web/API/LayoutShift */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += Number(Reflect.get(entry, "value"));
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 50);
      }),
  );
}
