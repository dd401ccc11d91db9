import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import type { Environment } from "../../shared/environment_reader.ts";
import { launchChromium } from "../support/chromium.ts";
import type { Person } from "../support/openid_provider.ts";
import { startWebGateway } from "../support/web_gateway.ts";

/** A browser and a gateway for all tests of a file. */
export async function openStage(environment: Environment = {}) {
  const [browser, gateway] = await Promise.all([launchChromium(), startWebGateway(environment)]);
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });
  return {
    browser,
    gateway,
    /** A new tenant for each test, and the page signed in as it. */
    async demoTenant() {
      const tenant = await gateway.createTenant("Acme");
      gateway.setDemo(tenant);
      return tenant;
    },
  };
}

/**
 * Opens the page in a new browser profile. Errors, policy violations and foreign requests are recorded, and must be none when it
 * is closed.
 */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & {
    readonly beforeOpen?: (page: Page) => Promise<void>;
    /** To which the page may go beside its own. */
    readonly otherOrigins?: readonly string[];
  } = {},
) {
  const { beforeOpen, otherOrigins = [], ...profile } = options;
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 1440, height: 900 },
    // Drawing animations takes CPU time, and no test looks at one.
    reducedMotion: "reduce",
    ...profile,
  });
  // Shorter than a test may take, so that a failure names what did not appear.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const violations: string[] = [];
  const errors: string[] = [];
  const requestUrls: string[] = [];
  await page.exposeFunction("reportViolation", (violation: string) => violations.push(violation));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
      const report = Reflect.get(globalThis, "reportViolation") as (violation: string) => void;
      report(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML|Unhandled/i.test(message.text())) violations.push(message.text());
  });
  page.on("request", (request) => requestUrls.push(request.url()));
  await beforeOpen?.(page);
  await page.goto(url);
  return Object.assign(page, {
    /** Every request, in order. */
    requestUrls,
    /** Waits until the page's connection is in this state. */
    untilConnection: (state: string) =>
      page.locator(`.connection[data-state="${state}"]`).waitFor({ state: "attached" }),
    async [Symbol.asyncDispose]() {
      await context.close();
      const { origin } = new URL(url);
      expect(violations, "violations of the content security policy").toEqual([]);
      expect(errors, "uncaught errors").toEqual([]);
      expect(
        requestUrls.filter((requested) => ![origin, ...otherOrigins].includes(new URL(requested).origin)),
        "requests to elsewhere",
      ).toEqual([]);
    },
  });
}

/** Nothing of a sign-in is left in the browser. */
export async function expectNothingStored(page: Page): Promise<void> {
  const stored = await page.evaluate(async () => {
    const databases = await indexedDB.databases();
    return [...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie, databases.length];
  });
  expect(stored).toEqual(["", 0]);
}

/** The rows of the rules that fail. */
export const failingRule = ".rule:has(> summary .state-fail)";

/** Opens the row of a rule, by a part of what it says or by its selector. */
export async function openRule(page: Page, textOrSelector: string): Promise<Locator> {
  const rule = textOrSelector.startsWith(".")
    ? page.locator(textOrSelector)
    : page.locator(".rule", { hasText: textOrSelector });
  await rule.locator("summary").first().click();
  return rule;
}

export async function signOut(page: Page): Promise<void> {
  await page.locator(".account").click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

export async function signIn(page: Page, pasted: string): Promise<void> {
  await page.getByLabel("Access token or API key").fill(pasted);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** From the page to the issuer, and back. */
export async function signInAs(page: Page, person: Person): Promise<void> {
  await page.getByRole("button", { name: /^Sign in at / }).click();
  await logIn(page, person);
}

/** At the issuer. */
export async function logIn(page: Page, person: Person): Promise<void> {
  await page.getByLabel("Email").fill(person.login);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Another tab of the same browser profile, signed in. */
export async function openTab(context: BrowserContext, address: string, secret: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await signIn(page, secret);
  return page;
}

/** The minified file: each page has to parse it. */
const axeSource = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Fails unless axe finds nothing wrong with the page as it is now. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Evaluated by the debugger, so the page's own policy against foreign scripts stands.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { run } = Reflect.get(globalThis, "axe") as typeof axe;
    // Its selectors take half of the time, and the HTML names the element, too.
    const results = await run(document, { resultTypes: ["violations"], selectors: false });
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
