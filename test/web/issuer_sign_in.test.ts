import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { openSignInStage, type SignInStage } from "../support/sign_in_stage.ts";
import { freePort } from "../support/free_port.ts";
import { buildFinding } from "../support/producers.ts";
import { startWebGateway } from "../support/web_gateway.ts";
import {
  expectNothingStored,
  failingRule,
  logIn,
  openPage,
  openRule,
  signIn,
  signInAs,
  signOut,
} from "./watched_page.ts";

/** The page signs in at an issuer, in a browser that reports every violation of the content security policy. */
const browser = await launchChromium();
afterAll(() => browser.close());
const stage = await openSignInStage();
/** Tokens that are about to end, so that the page renews them at once. */
const lifetimeSeconds = 10;
const byRefreshToken = await openSignInStage(
  { OIDC_SCOPES: "openid profile email offline_access" },
  { lifetimeSeconds, grantTypes: ["authorization_code", "refresh_token"] },
);
const { gateway, issuer, people, acme, globex } = stage;

const open = (url = gateway.url) => openPage(browser, url, { otherOrigins: [new URL(issuer).origin] });

test("signs in with code and PKCE, leaves nothing in storage or in an address, signs out at the issuer too, and can be cancelled there", async () => {
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using page = await open(`${gateway.url}/#/scans/${scan.id}`);
  const { requestUrls } = page;
  await signInAs(page, people.one);
  // The scan that was open is open again.
  await page.untilConnection("live");
  expect(page.url()).toBe(`${gateway.url}/#/scans/${scan.id}`);
  expect(await page.getByText("Olga One").count()).toBe(1);
  await expectNothingStored(page);
  const authorize = new URL(requestUrls.find((url) => url.includes("/v1/authorize?")) ?? "");
  expect(authorize.searchParams.get("code_challenge_method")).toBe("S256");
  for (const url of requestUrls) expect(url).not.toMatch(/access_token|eyJ|code_verifier/);

  await signOut(page);
  await page.getByRole("button", { name: /^Sign in at / }).waitFor();
  expect(page.url()).toBe(`${gateway.url}/`);
  await expectNothingStored(page);
  // The issuer has forgotten them as well.
  await page.getByRole("button", { name: /^Sign in at / }).click();
  await page.getByLabel("Email").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText(/The sign-in was cancelled, .*\(access_denied: User canceled the sign-in\.\)/).waitFor();
  await expectNothingStored(page);
});

test("a person with two tenants switches between them, and sees each one's scans with the role there", async () => {
  await acme.producer.register({ org_url: "https://only-acme.okta.com", checks_total: 1 });
  await globex.producer.register({ org_url: "https://only-globex.okta.com", checks_total: 1 });
  await using page = await open();
  await signInAs(page, people.both);
  const tenants = page.getByLabel("Tenant");
  await tenants.waitFor();
  expect(await tenants.locator("option").allTextContents()).toEqual(["Acme (viewer)", "Globex (admin)"]);
  await page.locator(".organization-link").filter({ hasText: "only-acme" }).waitFor();
  expect(await page.getByText("only-globex").count()).toBe(0);
  await tenants.selectOption("Globex (admin)");
  await page.locator(".organization-link").filter({ hasText: "only-globex" }).click();
  await page.untilConnection("live");
  expect(await page.getByText("only-acme").count()).toBe(0);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Add member" }).waitFor();
});

test("a subject that is no member is told who they are, which tenant it is, and who can add them", async () => {
  await using page = await open();
  await signInAs(page, people.none);
  const notice = page.getByText(/You signed in as nils@practice\.example, who is not a member of the tenant/);
  await notice.waitFor();
  expect(await notice.textContent()).toContain(
    `scanstream admin user create --tenant ${people.none.tenantIds[0]} --sub nils@practice.example`,
  );
  // The issuer knows them still: without asking it would be the same person again.
  await page.getByRole("button", { name: "Sign in as somebody else" }).click();
  await logIn(page, people.one);
  await page.getByText("Olga One").waitFor();
});

test("an issuer that the gateway cannot reach is named, and a key still signs in", async () => {
  const away = `http://127.0.0.1:${await freePort()}`;
  await using other = await startWebGateway({ AUTH_ISSUER: away, OIDC_CLIENT_ID: "page" });
  const tenant = await other.createTenant("Acme");
  await using page = await open(other.url);
  await page
    .getByRole("alert")
    .filter({ hasText: `The gateway cannot reach the issuer ${away}` })
    .waitFor();
  await signIn(page, tenant.apiKey);
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
});

test.each([
  [{ audience: "api://default" }, /is for "api:\/\/default": this gateway expects the audience "scanstream-test"/],
  [{ tenantClaim: "org" }, /its claim "tenant_id" has to be the UUID of a tenant/],
])("an access token with %j is explained before the gateway is asked", async (offered, words) => {
  stage.offer(offered);
  await using page = await open();
  await signInAs(page, people.one);
  await page.getByText(words).waitFor();
});

async function openScan({ gateway, acme, people, issuer }: SignInStage, beforeOpen?: (page: Page) => Promise<void>) {
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
  const page = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`, {
    otherOrigins: [new URL(issuer).origin],
    ...(beforeOpen === undefined ? {} : { beforeOpen }),
  });
  await signInAs(page, people.one);
  await page.untilConnection("live");
  return page;
}

/** Begins a decision about the organization of the scan that is open. */
async function beginDecision(page: Page, { acme }: SignInStage): Promise<void> {
  await acme.producer.scanned([buildFinding()]);
  await page.getByLabel("As of").selectOption("now");
  await openRule(page, failingRule);
  await page.getByRole("button", { name: "Waive…" }).click();
  await page.getByLabel("Reason").fill("Half a reason");
}

/** Makes an error of each connection that is lost from now on, which fails the test when the page is closed. */
async function expectLive(page: Page): Promise<void> {
  await page.evaluate(() => {
    const check = () => {
      const lost = document.querySelector<HTMLElement>('.connection:not([data-state="live"])');
      if (lost !== null) reportError(new Error(`The connection is ${lost.dataset["state"]}`));
    };
    new MutationObserver(check).observe(document.body, { subtree: true, attributes: true, childList: true });
  });
}

// Both wait for tokens to end.
test.concurrent.for([
  ["in a hidden frame", stage, "prompt=none"],
  ["by its refresh token", byRefreshToken, "/v1/token"],
] as const)("a session is renewed %s in time, and no stream breaks", async ([, renewing, sign], { expect }) => {
  renewing.offer({ lifetimeSeconds });
  await using page = await openScan(renewing);
  const { requestUrls } = page;
  // That of the list as well.
  await expect.poll(() => page.locator('.connection:not([data-state="live"])').count()).toBe(0);
  await expectLive(page);
  const streams = () => requestUrls.filter((url) => url.includes("/event-stream")).length;
  const before = { streams: streams(), renewals: requestUrls.filter((url) => url.includes(sign)).length };
  // Twice, so that what was renewed is renewed as well; each stream ends with its token and is opened with the next one.
  const renewals = () => requestUrls.filter((url) => url.includes(sign)).length - before.renewals;
  await expect.poll(renewals).toBeGreaterThanOrEqual(2);
  await expect.poll(() => streams() - before.streams).toBeGreaterThanOrEqual(2);
  await page.untilConnection("live");
  await expectNothingStored(page);
  await expect.poll(() => page.locator("iframe").count()).toBe(0);
  expect(requestUrls.some((url) => url.includes("prompt=none"))).toBe(renewing === stage);
});

test.concurrent("an issuer that is away while a token ends costs no session", async ({ expect }) => {
  byRefreshToken.offer();
  await using page = await openScan(byRefreshToken);
  let hasEnded = false;
  let failures = 0;
  page.on("response", (response) => {
    if (response.status() === 401) hasEnded = true;
  });
  await page.route("**/v1/token", (route) => {
    if (hasEnded) failures += 1;
    return failures > 1 ? route.fallback() : route.abort("connectionrefused");
  });
  expect((await page.waitForResponse("**/v1/token")).status()).toBe(200);
  expect(hasEnded).toBe(true);
  await page.untilConnection("live");
  expect(await page.getByText("Olga One").count()).toBe(1);
});

test("a session that cannot be renewed says when it ends, and signing in again leads back to what is open and typed", async () => {
  stage.offer();
  await using page = await openScan(stage, (page) => page.clock.install());
  await beginDecision(page, stage);
  const { hash } = new URL(page.url());
  // The issuer forgets its sessions.
  stage.offer();
  await page.clock.fastForward("04:01");
  // The page behind the form cannot be reached.
  const notice = page.getByRole("dialog").getByText(/^Your session ends at /);
  await notice.waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Sign in again" }).click();
  await logIn(page, stage.people.one);
  await page.untilConnection("live");
  expect(new URL(page.url()).hash).toBe(hash);
  expect(await page.getByLabel("Reason").inputValue()).toBe("Half a reason");
  expect(await notice.count()).toBe(0);
  await expectNothingStored(page);
});

test("a session that has ended says so, and what was open and typed is there again after signing in", async () => {
  byRefreshToken.offer();
  await using page = await openScan(byRefreshToken);
  await beginDecision(page, byRefreshToken);
  const { hash } = new URL(page.url());
  byRefreshToken.offer();
  await page.getByText("Your session has ended: it could not be renewed.").waitFor();
  await signInAs(page, byRefreshToken.people.one);
  await page.untilConnection("live");
  expect(new URL(page.url()).hash).toBe(hash);
  expect(await page.getByLabel("Reason").inputValue()).toBe("Half a reason");
});
