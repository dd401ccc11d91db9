import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Fails with what axe finds on the page as it is now. `state` names it. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Evaluated by the debugger, so the page's own policy against foreign scripts stands.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { run } = Reflect.get(globalThis, "axe") as typeof axe;
    const results = await run(document, { resultTypes: ["violations"] });
    return results.violations.map(
      ({ id, impact, nodes }) => `${impact}: ${id} at ${nodes.map(({ html }) => html.slice(0, 160)).join(" and ")}`,
    );
  });
  expect(violations, state).toEqual([]);
}
