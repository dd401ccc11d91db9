import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The minified file: each page has to parse it. */
const source = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Elements beyond a dozen alike in one list are hidden from axe: one is as good as the other, and it takes its time for each. */
const maxAlike = 12;

/** Fails unless axe finds nothing wrong with the page as it is now. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Evaluated by the debugger, so the page's own policy against foreign scripts stands.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(async (most) => {
    const fewer = new CSSStyleSheet();
    fewer.replaceSync("[data-alike] { display: none !important }");
    for (const list of document.querySelectorAll("main, main *")) {
      const alike = Map.groupBy(list.children, ({ tagName, className, attributes }) =>
        [tagName, className, ...Array.from(attributes, ({ name }) => name)].join(" "),
      );
      for (const same of alike.values()) for (const one of same.slice(most)) one.setAttribute("data-alike", "");
    }
    document.adoptedStyleSheets = [fewer];
    const { run } = Reflect.get(globalThis, "axe") as typeof axe;
    const results = await run(document, { resultTypes: ["violations"] });
    document.adoptedStyleSheets = [];
    for (const one of document.querySelectorAll("[data-alike]")) one.removeAttribute("data-alike");
    return results.violations.map(
      ({ id, impact, nodes }) => `${impact}: ${id} at ${nodes.map(({ html }) => html.slice(0, 160)).join(" and ")}`,
    );
  }, maxAlike);
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
