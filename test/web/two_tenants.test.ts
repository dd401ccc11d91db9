import { expect, test } from "vitest";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { member } from "../support/test_gateway.ts";
import { openPage, openTab, openRule, openStage, signIn } from "./watched_page.ts";

const { browser, gateway } = await openStage({ EVENTSTREAM_RECHECK_SECONDS: "1" });

test("two tenants never see each other's scans", async () => {
  const tenants = { acme: await gateway.createTenant("Acme"), globex: await gateway.createTenant("Globex") };
  const scans = {
    acme: await tenants.acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 }),
    globex: await tenants.globex.producer.register({ org_url: "https://globex.okta.com", checks_total: 1 }),
  };
  await using acme = await openPage(browser, gateway.url);
  await using globex = await openPage(browser, gateway.url);
  for (const [watched, secret, own] of [
    [acme, tenants.acme.accessToken, "acme.okta.com"],
    [globex, tenants.globex.apiKey, "globex.okta.com"],
  ] as const) {
    await signIn(watched.page, secret);
    await watched.page.getByRole("heading", { level: 1, name: own }).waitFor();
    await watched.untilConnection("live");
  }
  await scans.acme.check("a", [buildFinding({ check: "a", resource_name: "Acme secret" })], { done: 1, total: 1 });
  await scans.globex.check("a", [buildFinding({ check: "a", resource_name: "Globex secret" })], { done: 1, total: 1 });
  for (const [{ page }, secret] of [
    [acme, "Acme secret"],
    [globex, "Globex secret"],
  ] as const) {
    await openRule(page, "1 of 1");
    await page.locator(".finding", { hasText: secret }).waitFor();
  }
  expect(await acme.page.content()).not.toMatch(/globex/i);
  expect(await globex.page.content()).not.toMatch(/acme/i);

  await acme.page.goto(`${gateway.url}/#/scans/${scans.globex.id}`);
  await acme.page.getByRole("heading", { name: "This scan cannot be shown" }).waitFor();
  expect(await acme.page.content()).not.toMatch(/globex/i);

  const monitor = await produceMonitor(gateway.url, tenants.globex.apiKey, { org_url: "https://globex.okta.com" });
  await acme.page.goto(`${gateway.url}/#/monitors/${monitor.id}`);
  await acme.page.getByRole("heading", { name: "This organization cannot be shown" }).waitFor();
  expect(await acme.page.content()).not.toMatch(/globex/i);
});

test("a member who is removed sees nothing of the tenant any more, in any tab", async () => {
  const acme = await gateway.createTenant("Acme");
  await acme.producer.register({ org_url: "https://secret.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, gateway.url);
  await signIn(watched.page, acme.accessToken);
  const pages = [watched.page, await openTab(watched.page.context(), gateway.url, acme.accessToken)];
  for (const page of pages) await page.getByText("secret.okta.com").first().waitFor();
  await gateway.removeMember(acme, member);
  for (const page of pages) {
    await page.getByText("You no longer have access to Acme.").waitFor();
    expect(await page.content()).not.toContain("secret.okta.com");
    await expect.poll(() => page.title()).toBe("Sign in · scanstream");
  }
});
