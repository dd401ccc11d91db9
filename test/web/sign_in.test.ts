import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { startWebGateway, type WebGateway } from "../support/web_gateway.ts";
import { openPage, signIn } from "./watched_page.ts";
import { signsInWithoutLeaking } from "./watching_cases.ts";

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
    await signsInWithoutLeaking(browser, gateway.url, { secret: tenant[key], producer: tenant.producer });
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
