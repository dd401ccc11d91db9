import { expect, test } from "vitest";
import { openPage, openStage, signIn } from "./watched_page.ts";
import { signsInWithoutLeaking } from "./watching_cases.ts";

const { browser, gateway } = await openStage({ EVENTSTREAM_RECHECK_SECONDS: "1" });

for (const [name, key] of [
  ["an API key", "apiKey"],
  ["an access token", "accessToken"],
] as const) {
  test(`${name} signs in, and never shows up in a URL or in storage`, async () => {
    const tenant = await gateway.createTenant("Acme");
    await signsInWithoutLeaking(browser, gateway.url, { secret: tenant[key], producer: tenant.producer });
  });
}

test("shows why a credential is not accepted, and lets it be corrected", async () => {
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

test("hides the credential until 'Show' is pressed", async () => {
  await using watched = await openPage(browser, gateway.url);
  const field = watched.page.getByLabel("Access token or API key");
  expect(await field.getAttribute("type")).toBe("password");
  await watched.page.getByRole("button", { name: "Show what is typed" }).click();
  expect(await field.getAttribute("type")).toBe("text");
});

test("signing out removes the credential and everything of the tenant", async () => {
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

test("returns to signing in when the key is revoked", async () => {
  const tenant = await gateway.createTenant("Acme");
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await signIn(page, tenant.apiKey);
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
  await gateway.revokeApiKey(tenant.apiKeyId);
  await page.getByText("You were signed out").waitFor();
});
