import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { openSignInStage, type SignInStage } from "../support/sign_in_stage.ts";
import { expectNothingStored, logIn, openPage, signInAs } from "./watched_page.ts";

/** Sessions at an issuer that are about to end, with tokens of a few seconds. */
const browser = await launchChromium();
afterAll(() => browser.close());

const lifetimeSeconds = 10;
const inFrame = await openSignInStage({}, { lifetimeSeconds });
const byRefreshToken = await openSignInStage(
  { OIDC_SCOPES: "openid profile email offline_access" },
  { lifetimeSeconds, grantTypes: ["authorization_code", "refresh_token"] },
);

async function openScan(stage: SignInStage, beforeOpen?: (page: Page) => Promise<void>) {
  const { gateway, acme, people, issuer } = stage;
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
  const page = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`, {
    otherOrigins: [new URL(issuer).origin],
    ...(beforeOpen === undefined ? {} : { beforeOpen }),
  });
  await signInAs(page, people.one);
  await page.untilConnection("live");
  return page;
}

/** Every state that the connections of the page show from now on. */
async function recordStates(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const states: string[] = [];
    Reflect.set(globalThis, "recordedStates", states);
    const note = () => {
      for (const element of document.querySelectorAll<HTMLElement>(".connection")) {
        const { state = "" } = element.dataset;
        if (!states.includes(state)) states.push(state);
      }
    };
    new MutationObserver(note).observe(document.body, { subtree: true, attributes: true, childList: true });
    note();
  });
  return () => page.evaluate(() => Reflect.get(globalThis, "recordedStates") as string[]);
}

for (const [name, stage, sign] of [
  ["in a hidden frame", inFrame, "prompt=none"],
  ["by its refresh token", byRefreshToken, "/v1/token"],
] as const) {
  test(`a session is renewed ${name} before its token ends, and open streams go on without a break`, async () => {
    await using page = await openScan(stage);
    const { requestUrls } = page;
    // That of the list as well.
    await expect.poll(() => page.locator('.connection:not([data-state="live"])').count()).toBe(0);
    const states = await recordStates(page);
    const streams = () => requestUrls.filter((url) => url.includes("/event-stream")).length;
    const before = { streams: streams(), renewals: requestUrls.filter((url) => url.includes(sign)).length };
    // Twice, so that what was renewed is renewed as well; each stream ends with its token and is opened with the next one.
    const renewals = () => requestUrls.filter((url) => url.includes(sign)).length - before.renewals;
    await expect.poll(renewals).toBeGreaterThanOrEqual(2);
    await expect.poll(() => streams() - before.streams).toBeGreaterThanOrEqual(2);
    await page.untilConnection("live");
    expect(await states()).toEqual(["live"]);
    expect(await page.getByText("Olga One").count()).toBe(1);
    await expectNothingStored(page);
    // The frame is gone when it has done its work.
    await expect.poll(() => page.locator("iframe").count()).toBe(0);
    expect(requestUrls.some((url) => url.includes("prompt=none"))).toBe(stage === inFrame);
  });
}

test("a session that cannot be renewed says when it ends, and signing in again leads back to what is open", async () => {
  inFrame.offer({ lifetimeSeconds: 300 });
  await using page = await openScan(inFrame, (page) => page.clock.install());
  const { hash } = new URL(page.url());
  // The issuer forgets its sessions.
  inFrame.offer({ lifetimeSeconds: 300 });
  await page.clock.fastForward("04:01");
  await page.getByText(/^Your session ends at /).waitFor();
  await page.getByRole("button", { name: "Sign in again" }).click();
  await logIn(page, inFrame.people.one);
  await page.untilConnection("live");
  expect(new URL(page.url()).hash).toBe(hash);
  expect(await page.getByText(/^Your session ends at /).count()).toBe(0);
});

test("a session that has ended says so, and what was open is open again after signing in", async () => {
  byRefreshToken.offer();
  await using page = await openScan(byRefreshToken);
  const { hash } = new URL(page.url());
  byRefreshToken.offer();
  await page.getByText("Your session has ended: it could not be renewed.").waitFor();
  await signInAs(page, byRefreshToken.people.one);
  await page.untilConnection("live");
  expect(new URL(page.url()).hash).toBe(hash);
});

test("an issuer that is away for a moment costs no session", async () => {
  byRefreshToken.offer({ lifetimeSeconds: 16 });
  let isAway = false;
  await using page = await openScan(byRefreshToken, async (page) => {
    await page.route("**/v1/token", (route) => (isAway ? route.abort("connectionrefused") : route.fallback()));
  });
  const { requestUrls } = page;
  const requests = () => requestUrls.filter((url) => url.endsWith("/v1/token")).length;
  const before = requests();
  isAway = true;
  await expect.poll(requests).toBeGreaterThan(before);
  isAway = false;
  await expect.poll(requests).toBeGreaterThan(before + 1);
  await page.untilConnection("live");
  expect(await page.getByText("Olga One").count()).toBe(1);
});
