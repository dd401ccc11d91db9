import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The minified file: each page has to parse it. */
const source = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Fails unless axe finds nothing wrong with the page as it is now. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Evaluated by the debugger, so the page's own policy against foreign scripts stands.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    const { run } = Reflect.get(globalThis, "axe") as typeof axe;
    const results = await run(document, { resultTypes: ["violations"] });
    return results.violations.map(
      ({ id, impact, nodes }) => `${impact}: ${id} at ${nodes.map(({ html }) => html.slice(0, 160)).join(" and ")}`,
    );
  });
  expect(violations, state).toEqual([]);
}

/** Presses Tab until an element that matches has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
  }
  throw new Error(`Cannot reach ${selector} with the keyboard`);
}
