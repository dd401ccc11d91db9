import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { startWebGateway, type WebGateway } from "../support/web_gateway.ts";
import { openPage } from "./watched_page.ts";

let browser: Browser;
let gateway: WebGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchChromium(), startWebGateway()]);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

for (const [name, key] of [
  ["an API key", "apiKey"],
  ["an access token", "accessToken"],
] as const) {
  test(`${name} signs in, and never shows up in a URL or in storage`, async () => {
    const tenant = await gateway.createTenant("Acme");
    const secret = tenant[key];
    const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
    await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
    const { page } = watched;
    const streamAuthorizations: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/event-stream")) streamAuthorizations.push(request.headers()["authorization"]);
    });
    await signIn(page, `  ${secret}\n`);
    await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
    await watched.untilConnection("live");
    expect(watched.requestUrls.filter((url) => url.includes(secret))).toEqual([]);
    expect(await page.content()).not.toContain(secret);
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).toBe(
      '[{},{},""]',
    );
    expect(await page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
    // The stream is opened with a token of its own.
    expect(streamAuthorizations).toHaveLength(1);
    expect(streamAuthorizations[0]).toMatch(/^Bearer /);
    expect(streamAuthorizations[0]).not.toContain(secret);

    await page.reload();
    await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
  });
}

test("a credential that is not accepted is refused with a reason, and can be corrected", async () => {
  const tenant = await gateway.createTenant("Acme");
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  const problem = page.getByRole("alert");
  const field = page.getByLabel("Access token or API key");
  for (const [pasted, words] of [
    ["", /Paste an access token or an API key/],
    ["two words", /neither a token nor a key/],
    ["scs_wrong", /This was not accepted/],
    ["eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x", /This was not accepted/],
  ] as const) {
    await signIn(page, pasted);
    await problem.filter({ hasText: words }).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.inputValue()).toBe(pasted);
  }
  await signIn(page, `Api-Key ${tenant.apiKey}`);
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
});

test("what is typed is hidden until it is asked for", async () => {
  await using watched = await openPage(browser, gateway.url);
  const field = watched.page.getByLabel("Access token or API key");
  expect(await field.getAttribute("type")).toBe("password");
  await watched.page.getByRole("button", { name: "Show what is typed" }).click();
  expect(await field.getAttribute("type")).toBe("text");
});

test("signing out forgets the credential and shows nothing of the tenant", async () => {
  const tenant = await gateway.createTenant("Acme");
  await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await signIn(page, tenant.apiKey);
  await page.locator(".scan-link").click();
  await watched.untilConnection("live");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
  expect(await page.content()).not.toContain("acme.okta.com");
  expect(new URL(page.url()).hash).toBe("#/");
  expect(await page.getByLabel("Access token or API key").inputValue()).toBe("");
});

test("a key that is revoked while the page is open leads back to signing in", async () => {
  const tenant = await gateway.createTenant("Acme");
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await signIn(page, tenant.apiKey);
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
  await gateway.revokeApiKey(tenant.apiKeyId);
  await page.getByText("You were signed out").waitFor();
});

async function signIn(page: Page, pasted: string): Promise<void> {
  await page.getByLabel("Access token or API key").fill(pasted);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
