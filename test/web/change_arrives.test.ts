import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { aChange, anExplanation } from "../support/change_builders.ts";
import { produceMonitor, type ProducedMonitor } from "../support/monitor_producer.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage, type WatchedPage } from "./watched_page.ts";

/** An organization, live: verdicts, changes and whether anything is watched at all, over the gateway's own monitors. */

const { browser, gateway, demoTenant } = await openStage();

const mfa = {
  check: "application_admin_console_mfa_required",
  fingerprint: "mfa",
  resource: { type: "app", id: "0oa1", name: "Admin Console" },
};
const idle = { fingerprint: "idle", resource: { type: "policy", id: "00p1", name: "Default Policy" } };
const first = { from: null, cause: "start", explained_by: [] } as const;
const pass = { status: "PASS", reason: null } as const;
const fail = { status: "FAIL", reason: null } as const;

/** Two findings, one of which fails. */
async function watchOrg(): Promise<{ readonly acme: WebTenant; readonly monitor: ProducedMonitor }> {
  const acme = await demoTenant();
  const monitor = await produceMonitor(gateway.url, acme.apiKey);
  await monitor.store([
    aChange({ ...mfa, ...first, to: pass, actual: "required" }),
    aChange({ ...idle, ...first, to: fail, actual: "120 minutes" }),
  ]);
  return { acme, monitor };
}

function openMonitor(monitor: ProducedMonitor): Promise<WatchedPage> {
  return openPage(browser, `${gateway.url}/#/monitors/${monitor.id}`);
}

async function untilNames(page: Page, names: readonly string[]): Promise<void> {
  await expect.poll(() => page.locator(".finding-name").allTextContents()).toEqual(names);
}

test("lists organizations, opens one, and shows its present verdicts and how long ago the last look was", async () => {
  await watchOrg();
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  const row = page.locator(".organization", { hasText: "acme.okta.com" }).filter({ hasText: "Live" });
  // Of the two findings the one that fails is of CAT II; nothing has changed since the first state.
  await row.filter({ hasText: "No changes yet" }).waitFor();
  expect(await row.locator('[data-label="CAT II"]').textContent()).toBe("1");
  await row.getByRole("link").click();
  await watched.untilConnection("live");
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await untilNames(page, ["Default Policy", "Admin Console"]);
  // The first state is no change.
  await page.getByText("Nothing has changed since monitoring began.").waitFor();
  const age = page.locator('[data-watch="live"]');
  const seconds = async () => Number(/read (\d+) s ago/.exec((await age.textContent()) ?? "")?.[1]);
  const before = await seconds();
  await expect.poll(seconds).toBeGreaterThan(before);
});

test("a change moves in without a reload, with who did it, and is announced", async () => {
  const { monitor } = await watchOrg();
  await using watched = await openMonitor(monitor);
  const { page } = watched;
  await watched.untilConnection("live");
  await untilNames(page, ["Default Policy", "Admin Console"]);
  await monitor.store([aChange({ ...mfa, from: pass, to: fail, actual: "not required" })]);
  await monitor.update({ pass: 26, fail: 2 });
  const change = page.locator(".change");
  await change
    .filter({ hasText: "Admin Console" })
    .filter({ hasText: "by Ada Admin (admin@acme.example) · policy.rule.update" })
    .waitFor();
  await expect.poll(() => change.locator(".tag").allTextContents()).toEqual(["Pass", "Fail"]);
  await page.locator(".tile", { hasText: "Fail" }).filter({ hasText: "2" }).waitFor();
  await page.locator(".finding", { hasText: "not required" }).locator(".tag", { hasText: "Fail" }).waitFor();
  await page
    .locator('[aria-live="polite"]', { hasText: "Admin Console: Pass to Fail, by Ada Admin (admin@acme.example)." })
    .waitFor({ state: "attached" });
  expect(await page.title()).toContain("2 fail");

  // A finding that is gone leaves, and one that is new comes.
  await monitor.store([
    aChange({ ...idle, from: fail, to: null }),
    aChange({ fingerprint: "new", resource: { type: "policy", id: "00p2", name: "Contractors" }, from: null }),
  ]);
  await untilNames(page, ["Admin Console", "Contractors"]);
  await expect.poll(() => change.count()).toBe(3);
});

test("marks what no event explains, and shows a finding's own history", async () => {
  const { monitor } = await watchOrg();
  await monitor.store([
    aChange({ ...mfa, from: pass, to: fail, cause: "reconciliation", explained_by: [] }),
    aChange({ ...idle, from: fail, to: { status: "MANUAL", reason: "provider_error" }, actual: "" }),
  ]);
  await using watched = await openMonitor(monitor);
  const { page } = watched;
  await watched.untilConnection("live");
  await page.locator(".change-unexplained", { hasText: "Unexplained: found by a full scan" }).waitFor();
  await page.locator(".change", { hasText: "Okta did not answer" }).waitFor();
  await page.getByRole("button", { name: /^Unexplained/ }).click();
  await expect.poll(() => page.locator(".change").count()).toBe(1);
  // What was known last is beside a verdict that could not be given.
  const row = page.locator(".finding", { hasText: "Default Policy" });
  await row.filter({ hasText: "Fail before" }).waitFor();
  await row.locator("summary").click();
  await expect.poll(() => row.locator(".history .change").count()).toBe(2);
  await row.locator(".history", { hasText: "Initial state" }).waitFor();
  await monitor.store([aChange({ ...idle, from: { status: "MANUAL", reason: "provider_error" }, to: pass })]);
  await expect.poll(() => row.locator(".history .change").count()).toBe(3);
});

test("filters verdicts and changes together, and reads older changes on demand", async () => {
  const { monitor } = await watchOrg();
  const many = Array.from({ length: 70 }, (_change, index) =>
    aChange({
      ...(index % 2 === 0 ? mfa : idle),
      from: index % 4 < 2 ? pass : fail,
      to: index % 4 < 2 ? fail : pass,
      explained_by: [anExplanation({ actor: { id: "00u2", type: "User", login: null, name: `Person ${index}` } })],
    }),
  );
  await monitor.store(many);
  await using watched = await openMonitor(monitor);
  const { page } = watched;
  await watched.untilConnection("live");
  const change = page.locator(".change");
  // As many as are loaded fill two pages, and only one of them is drawn.
  await expect.poll(() => change.count()).toBe(40);
  await page.getByRole("button", { name: "Older", exact: true }).click();
  await expect.poll(() => change.count()).toBe(10);
  await page.getByRole("button", { name: "Load older changes" }).click();
  await expect.poll(() => change.count()).toBe(30);
  // Below is only the first state.
  expect(await page.getByRole("button", { name: "Load older changes" }).isVisible()).toBe(false);
  await page.getByLabel("Filter by text").fill("person 69");
  await expect.poll(() => change.count()).toBe(1);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Filter by text").fill("admin console");
  await untilNames(page, ["Admin Console"]);
  await expect.poll(() => change.count()).toBe(35);
});

describe("live, delayed, without reports and blind are told apart", () => {
  test("on the overview", async () => {
    const acme = await demoTenant();
    const states: readonly (readonly [name: string, words: string, fields: object])[] = [
      ["live", "Live", {}],
      ["delayed", "Delayed", { last_look_at: new Date(Date.now() - 61_000).toISOString() }],
      ["stale", "No reports", {}],
      ["blind", "Log unreadable", { log_status: "unreadable", error_code: "forbidden", error_detail: "No scope" }],
      ["stopped", "Stopped", { status: "stopped" }],
    ];
    for (const [name, , fields] of states) {
      const monitor = await produceMonitor(gateway.url, acme.apiKey, { org_url: `https://${name}.okta.com` });
      await monitor.update(fields);
      if (name === "stale") await gateway.silenceMonitor(acme, monitor.id);
    }
    await using watched = await openPage(browser, gateway.url);
    for (const [name, words] of states) {
      const row = watched.page.locator(".organization", { hasText: `${name}.okta.com` });
      await row.locator('[data-label="Watched"]', { hasText: words }).waitFor();
    }
    await watched.page.getByText("5 organizations, of which 4 need attention").waitFor();
    await expect.poll(() => watched.page.title()).toMatch(/^⚠ 2 not watched · /);
  });

  test("what is said changes while it is looked at, and is never live while the page is not connected", async () => {
    const { monitor } = await watchOrg();
    await using watched = await openMonitor(monitor);
    const { page } = watched;
    await page.locator('[data-watch="live"]').waitFor();
    await monitor.update({ log_status: "unreadable", error_code: "forbidden", error_detail: "The scope is missing" });
    await page.locator('[data-watch="blind"]').waitFor();
    await page.getByRole("alert").filter({ hasText: "The scope is missing" }).waitFor();
    await monitor.update({ log_status: "reading", error_code: null });
    await page.locator('[data-watch="live"]').waitFor();
    expect(await page.getByText("The scope is missing").count()).toBe(0);
    // Somebody sets this machine's clock: the gateway's counts.
    const asked = page.waitForRequest(/\/api\/v1\/session$/);
    await page.evaluate(() => {
      const { now } = Date;
      Date.now = () => now() + 3_600_000;
    });
    await asked;
    await page.locator('[data-watch="live"]').waitFor();
    await gateway.stop();
    await page.locator('[data-watch="unknown"]', { hasText: "This page is not connected" }).waitFor();
    await gateway.start();
    await monitor.store([aChange({ ...mfa, from: pass, to: fail })]);
    await watched.untilConnection("live");
    await page.locator(".change", { hasText: "Admin Console" }).waitFor();
    await page.locator('[data-watch="live"]').waitFor();
  });

  test("a monitor that is deleted ends on the page and leaves the list", async () => {
    const { monitor } = await watchOrg();
    await using watched = await openMonitor(monitor);
    await watched.untilConnection("live");
    await monitor.delete();
    await watched.untilConnection("ended");
    await watched.page.locator('[data-watch="ended"]').waitFor();
    await watched.page.getByRole("link", { name: "All organizations" }).click();
    // Nobody looks at it any more, so it is folded.
    await watched.page.getByText("1 organization without a monitor").waitFor();
    expect(await watched.page.locator(".organization", { hasText: "Live" }).count()).toBe(0);
  });
});
