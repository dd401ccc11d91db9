import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { buildFinding } from "../support/scan_producer.ts";
import { member } from "../support/test_gateway.ts";
import { openOverview, openPage, openStage, signIn } from "./watched_page.ts";

/** Many tabs of one browser, whose connections to an HTTP/1.1 gateway are six. */

const { browser, gateway, demoTenant } = await openStage({ EVENTSTREAM_RECHECK_SECONDS: "1" });

async function openTab(context: BrowserContext, address: string, secret: string | null = null): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  if (secret !== null) await signIn(page, secret);
  return page;
}

test("eight tabs, each with a scan that runs, are live on one connection", async () => {
  const acme = await demoTenant();
  const scans = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      acme.producer.register({ org_url: `https://org${n}.okta.com`, checks_total: 2 }),
    ),
  );
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scans[0]?.id}`);
  await watched.untilConnection("live");
  const context = watched.page.context();
  const pages = [watched.page];
  for (const { id } of scans.slice(1)) pages.push(await openTab(context, `${gateway.url}/#/scans/${id}`));
  for (const page of pages) {
    await expect.poll(() => page.locator('.connection[data-state="live"]').count(), { timeout: 15_000 }).toBe(2);
  }
  await expect.poll(() => gateway.openStreams()).toBe(1);
  for (const [n, scan] of scans.entries()) {
    await scan.check("a_check", [buildFinding({ check: "a_check", resource_name: `Policy ${n}` })], {
      done: 1,
      total: 2,
    });
  }
  for (const [n, page] of pages.entries()) await page.locator(".finding", { hasText: `Policy ${n}` }).waitFor();
  for (const scan of scans) await scan.end("completed", { pass: 1, fail: 1, manual: 0 });
  for (const page of pages) await page.locator('main .connection[data-state="ended"]').waitFor();
  for (const page of pages) {
    await openOverview(page);
    await page.locator(".scan-link", { hasText: "org7.okta.com" }).waitFor();
  }
  // The tab that has the connection goes, and the others live on.
  await pages[0]?.close();
  await acme.producer.register({ org_url: "https://later.okta.com", checks_total: 1 });
  for (const page of pages.slice(1)) await page.locator(".scan-link", { hasText: "later.okta.com" }).waitFor();
  expect(await gateway.openStreams()).toBe(1);
});

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
  }
});
