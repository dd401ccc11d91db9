import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { member } from "../support/test_gateway.ts";
import { openPage, openStage, signIn } from "./watched_page.ts";

/** Many tabs of one browser, and who is signed in in them. That eight are live on one connection is tested in each browser. */

const { browser, gateway } = await openStage({ EVENTSTREAM_RECHECK_SECONDS: "1" });

async function openTab(context: BrowserContext, address: string, secret: string | null = null): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  if (secret !== null) await signIn(page, secret);
  return page;
}

test("signing out in one tab signs the person out in all, and nobody else", async () => {
  const acme = await gateway.createTenant("Acme");
  const globex = await gateway.createTenant("Globex");
  gateway.setDemo(null);
  await using watched = await openPage(browser, gateway.url);
  await signIn(watched.page, acme.accessToken);
  const context = watched.page.context();
  const second = await openTab(context, gateway.url, acme.accessToken);
  const other = await openTab(context, gateway.url, globex.apiKey);
  for (const page of [watched.page, second, other]) await page.locator('.connection[data-state="live"]').waitFor();
  await expect.poll(() => gateway.openStreams()).toBe(2);
  await second.getByRole("button", { name: "Sign out" }).click();
  await watched.page.getByText("You signed out in another tab.").waitFor();
  await second.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(await second.getByText("another tab").count()).toBe(0);
  expect(await other.getByRole("button", { name: "Sign out" }).count()).toBe(1);
  await expect.poll(() => gateway.openStreams()).toBe(1);
});

test("a member who is removed sees nothing of the tenant any more, in any tab", async () => {
  const acme = await gateway.createTenant("Acme");
  gateway.setDemo(null);
  await acme.producer.register({ org_url: "https://secret.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  await signIn(watched.page, acme.accessToken);
  const pages = [watched.page, await openTab(watched.page.context(), gateway.url, acme.accessToken)];
  for (const page of pages) await page.locator(".scan-link", { hasText: "secret.okta.com" }).waitFor();
  await gateway.removeMember(acme, member);
  for (const page of pages) {
    await page.getByText("You no longer have access to Acme.").waitFor();
    expect(await page.content()).not.toContain("secret.okta.com");
    await expect.poll(() => page.title()).toBe("Sign in · scanstream");
  }
});
