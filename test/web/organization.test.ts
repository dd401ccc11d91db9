import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { aChange, anExplanation, fail, pass } from "../support/change_builders.ts";
import { buildFinding } from "../support/producers.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openRule, openStage } from "./watched_page.ts";

/** An organization as it is scanned, watched, broken and mended, over the gateway's own scans and monitors. */

const { browser, gateway, demoTenant } = await openStage();

const orgUrl = "https://acme.okta.com";
const mfa = {
  check: "application_admin_console_mfa_required",
  fingerprint: "mfa",
  resource: { type: "app", id: "0oa1", name: "Okta Admin Console" },
} as const;
const idle = { fingerprint: "idle", resource: { type: "policy", id: "00p1", name: "Default Policy" } } as const;
const first = { from: null, cause: "start", explained_by: [] } as const;
const alex = { actor: { id: "00u1", type: "User", login: "alex@acme.example", name: "Alex Admin" } } as const;
const screens = [
  { width: 1440, height: 900 },
  { width: 960, height: 700 },
  { width: 390, height: 844 },
] as const;

/** Two rules, of which the one of CAT II fails. */
async function watchOrg(tenant: WebTenant) {
  const monitor = await tenant.producer.follow({ org_url: orgUrl });
  await monitor.store([
    aChange({ ...mfa, ...first, to: pass, actual: "two factors", rule: { ...pass, severity: "high" } }),
    aChange({ ...idle, ...first, to: fail, actual: "120 minutes", rule: { ...fail, severity: "medium" } }),
  ]);
  return monitor;
}

function breakMfa(changes: object = {}) {
  return aChange({
    ...mfa,
    from: pass,
    to: fail,
    actual: '1FA in rule "Catch-all Rule"',
    rule: { ...fail, severity: "high" },
    explained_by: [anExplanation({ ...alex, object: { type: "PolicyRule", name: "Catch-all Rule" } })],
    ...changes,
  });
}

/** True: everything of this part of the news is on the first screen. */
async function isOnScreen(page: Page, text: string | RegExp): Promise<boolean> {
  const box = await page.locator(".news-worst").getByText(text).first().boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

test("a broken CAT I rule is on the first screen of its organization, with actor, time and remedy, and in its row", async () => {
  const tenant = await demoTenant();
  const monitor = await watchOrg(tenant);
  await using overview = await openPage(browser, `${gateway.url}/#/`);
  await using page = await openPage(browser, `${gateway.url}/#/monitors/${monitor.id}`);
  await page.locator('[data-watch="live"]').waitFor();
  await page.getByText("1 FAIL", { exact: true }).waitFor();
  expect(await page.locator(".news-line").count()).toBe(0);
  await monitor.store([breakMfa()]);
  const news = page.locator(".news-worst");
  await news.filter({ hasText: "Alex Admin" }).waitFor();
  await page.getByText("2 FAIL", { exact: true }).waitFor();
  const parts = [
    "multifactor authentication",
    /Alex Admin, policy rule "Catch-all Rule"/,
    /\d\d:\d\d:\d\d/,
    /^ · Fix: /,
  ];
  for (const screen of screens) {
    await page.setViewportSize(screen);
    for (const part of parts) {
      await expect.poll(() => isOnScreen(page, part), { message: `${part} at ${screen.width}` }).toBe(true);
    }
  }
  const row = overview.locator(".organization.needs", { hasText: "acme.okta.com" });
  await row.filter({ hasText: "multifactor authentication" }).filter({ hasText: "Alex Admin" }).waitFor();
  await row.filter({ hasText: /\d\d:\d\d:\d\d · Fix: / }).waitFor();
  await expect.poll(() => overview.title()).toMatch(/^⚠ 1 needs you · /);

  // A change that was seen is news no more, also in another browser; the rule still fails.
  const overviewRead = Promise.withResolvers<void>();
  await page.route("**/api/v1/overview?*", async (route) => {
    await overviewRead.promise;
    await route.continue();
  });
  const asked = page.waitForRequest("**/api/v1/overview?*");
  await monitor.store([
    aChange({ ...idle, from: fail, to: pass, actual: "15 minutes", rule: { ...pass, severity: "medium" } }),
  ]);
  await asked;
  await expect.poll(() => page.locator(".news-line").count()).toBe(2);
  await page.getByRole("button", { name: "Seen" }).click();
  await expect.poll(() => page.locator(".news-line").count()).toBe(0);
  overviewRead.resolve();
  await using later = await openPage(browser, `${gateway.url}/#/`);
  await later.locator(".organization.worst", { hasText: "fails since a change by Alex Admin" }).waitFor();

  await monitor.store([
    aChange({ ...mfa, from: fail, to: pass, actual: "two factors", rule: { ...pass, severity: "high" } }),
  ]);
  await page.getByText("0 FAIL", { exact: true }).waitFor();
  // A read that began before "Seen" has undone nothing.
  await expect.poll(() => page.locator(".news-line").count()).toBe(1);
});

test("a change that no event explains says so, and what moved with it is in the rule's own list", async () => {
  const tenant = await demoTenant();
  const monitor = await watchOrg(tenant);
  await monitor.store([breakMfa({ cause: "reconciliation", explained_by: [] })]);
  await using page = await openPage(browser, `${gateway.url}/#/monitors/${monitor.id}`);
  await page.locator(".news-line", { hasText: "found by a full scan; the log names nobody" }).waitFor();
  // A rule that failed at the first poll may have failed before.
  await page.locator(".rule-since", { hasText: / or before$/ }).waitFor();
  const rule = await openRule(page, "V-273193");
  await rule.getByRole("heading", { name: "Changes" }).waitFor();
  await rule.locator("li", { hasText: "FAIL · found by a full scan" }).waitFor();

  await monitor.store([breakMfa({ from: fail, to: pass, explained_by: [], also: ["zone.update Offices"] })]);
  await rule.locator("li", { hasText: "PASS · the log names nobody" }).waitFor();
  await monitor.store([breakMfa()]);
  // The list of a rule is newest first; the news are worst first.
  const moved = () =>
    rule.locator("section li").evaluateAll((all) => all.map((one) => one.textContent.split(" · ")[1]));
  await expect.poll(moved).toEqual(["FAIL", "PASS", "FAIL"]);
  await page.goto(`${gateway.url}/#/organizations/none`);
  await expect.poll(() => page.title()).toMatch(/This organization cannot be shown · scanstream$/);
});

test("live, delayed, without reports and blind are told apart in the row", async () => {
  const tenant = await demoTenant();
  const lateAt = new Date(Date.now() - 61_000).toISOString();
  const unreadable = { log_status: "unreadable", error_code: "forbidden", error_detail: "No scope" } as const;
  const states = [
    ["live", {}, /^live, read \d+ s ago$/],
    ["delayed", { last_look_at: lateAt }, /^not live: the monitor is .* behind the org$/],
    ["stale", {}, /^not watched for /],
    ["blind", unreadable, /log cannot be read/],
    ["stopped", { status: "stopped" }, /multifactor.* · not watched: the monitor stopped/],
  ] as const;
  for (const [name, fields] of states) {
    const monitor = await tenant.producer.follow({ org_url: `https://${name}.okta.com` });
    if (name === "stopped") await monitor.store([breakMfa()]);
    await monitor.update(fields);
    if (name === "stale") await gateway.silenceMonitor(tenant, monitor.id);
  }
  await using page = await openPage(browser, gateway.url);
  for (const [name, , words] of states) {
    const row = page.locator(".organization", { hasText: `${name}.okta.com` });
    await row.locator(".organization-why", { hasText: words }).waitFor();
  }
  await page.getByText("4 of 5 need you").waitFor();
  await page.getByRole("button", { name: "needs you 4" }).click();
  expect(await page.locator(".organization").count()).toBe(4);
});

test("a running scan shows the check and its findings, and a cancelled one changes nothing else", async () => {
  const tenant = await demoTenant();
  const scan = await tenant.producer.register({ org_url: orgUrl, checks_total: 2 });
  // Whoever comes without an address, and has one organization, comes for it.
  await using page = await openPage(browser, gateway.url);
  await page.getByText("Scan running").waitFor();
  const check = "signon_global_session_idle_timeout_15min";
  await scan.check(check, [buildFinding({ check, resource_name: "Weak Policy" })], { done: 1, total: 2 });
  const running = page.locator(".running", { hasText: "1 of 2 rules" }).filter({ hasText: "CAT II V-273186" });
  // The scan's own stream may open later than the page shows that it runs, and nothing is replayed.
  const progress = { checks_done: 1, checks_total: 2, check, status: "FAIL", reason: null };
  const isShown = async () => {
    await scan.publish("scan.progress", progress);
    return running.isVisible();
  };
  await expect.poll(isShown).toBe(true);
  const rule = await openRule(page, "V-273186");
  await rule.locator(".finding", { hasText: "Weak Policy" }).waitFor();
  await rule.evaluate((row) => row.setAttribute("data-kept", ""));
  const mfaFinding = buildFinding({ check: mfa.check, status: "PASS", severity: "high" });
  await scan.check(mfa.check, [mfaFinding], { done: 2, total: 2 });
  await scan.end("completed", { pass: 1, fail: 1, manual: 0 });
  await page.locator(".running").waitFor({ state: "detached" });
  await page.getByText(/^scanned .* ago$/).waitFor();

  const other = await tenant.producer.register({ org_url: orgUrl, checks_total: 2 });
  await other.check(check, [buildFinding({ check, status: "PASS" })], { done: 1, total: 2 });
  await page.getByRole("button", { name: "Cancel scan" }).click();
  await page.getByRole("button", { name: "Cancelling…" }).waitFor();
  await other.end("cancelled", { pass: 1, fail: 0, manual: 0 });
  await page.locator(".running").waitFor({ state: "detached" });
  await page.getByText("1 FAIL", { exact: true }).waitFor();
  // The state after the scan replaced the scan's, and took no row from under the hand.
  expect(await page.locator("[data-kept]").count()).toBe(1);
  await using cancelled = await openPage(browser, `${gateway.url}/#/scans/${other.id}`);
  await cancelled.getByText("cancelled after 1 of 2 rules; it changes nothing else").waitFor();
  await cancelled.getByText("28 not evaluated").waitFor();
});

test("the page counts what each rule's last run found: after a part, a deleted scan, a monitor that ended", async () => {
  const tenant = await demoTenant();
  const scanOf = (...findings: readonly Parameters<typeof buildFinding>[0][]) =>
    tenant.producer.scanned(findings.map(buildFinding));
  const whole = await scanOf(
    { check: mfa.check, severity: "high", cause: "rul1", to_pass: "require two factors" },
    { status: "FAIL" },
  );
  await scanOf({ status: "PASS" });
  await using page = await openPage(browser, gateway.url);
  const countsAre = async (...texts: readonly string[]) => {
    const counts = page.locator(".counts");
    await expect.poll(async () => (await counts.innerText()).replaceAll(/\s+/g, " ")).toContain(texts.join(" "));
  };
  await countsAre("1 FAIL = 1 CAT I", "1 PASS", "0 MANUAL", "0 N/A", "27 not evaluated");
  await page.locator(".plan-change", { hasText: "require two factors" }).waitFor();
  await gateway.send("DELETE", `/scans/${whole.id}`, undefined, `Api-Key ${tenant.apiKey}`);
  await page.locator(".plan-change", { hasText: "require two factors" }).waitFor({ state: "detached" });
  await countsAre("1 FAIL = 1 CAT I", "1 PASS", "0 MANUAL", "0 N/A", "27 not evaluated");

  const monitor = await watchOrg(tenant);
  await countsAre("1 FAIL = 1 CAT II", "1 PASS");
  await monitor.update({ status: "ended" });
  await scanOf({ check: mfa.check, severity: "high" });
  await countsAre("2 FAIL = 1 CAT I · 1 CAT II", "0 PASS");
  await page.getByText(/^scanned .* ago$/).waitFor();
});

test("a monitor and a scan of one untouched organization do not differ, and a part that passes is no plain pass", async () => {
  const tenant = await demoTenant();
  const [auto, unread, plain] = [
    { check: "idp_smart_card_dod_approved_ca", status: "MANUAL", reason: "partly_automated" },
    // Nothing of it was evaluated: the directory enforces it.
    { check: "authenticator_password_complexity_uppercase", status: "MANUAL", reason: "partly_automated" },
    { check: "signon_global_session_idle_timeout_15min", status: "FAIL", reason: null },
  ] as const;
  const findings = [auto, unread, plain].map((one) =>
    buildFinding({ ...one, fingerprint: one.check, ...(one === auto ? { automated: "PASS" } : {}) }),
  );
  // A producer may name an address with a path.
  const scan = await tenant.producer.scanned(findings, { org_url: `${orgUrl}/admin` });
  const monitor = await tenant.producer.follow({ org_url: orgUrl });
  await monitor.store(
    [auto, unread, plain].map(({ check, status, reason }) =>
      aChange({ check, fingerprint: check, ...first, to: { status, reason } }),
    ),
  );
  await using page = await openPage(browser, `${gateway.url}/#/monitors/${monitor.id}`);
  await page.getByText("(1 pass as far as automated)").waitFor();
  await page.locator(".rule", { hasText: "MANUAL" }).filter({ hasText: "automated part passes" }).waitFor();
  await page.getByLabel("As of").selectOption({ index: 1 });
  await page.getByText("No rules differ now").waitFor();
  expect(new URL(page.url()).hash).toContain(`as-of=${scan.id}`);
  await monitor.store([aChange({ check: plain.check, fingerprint: plain.check, from: fail, to: pass })]);
  await page.getByText("1 rule differs now").waitFor();
  await page.locator(".rule", { hasText: "now PASS" }).waitFor();
  // Nothing is compared with what is not read yet.
  await page.route("**/monitors/*/findings*", () => undefined, { times: 1 });
  await page.reload();
  await page.locator(".rule", { hasText: "automated part passes" }).waitFor();
  expect(await page.getByText(/differs? now/).count()).toBe(0);
  // A failure that began after the scan is not the one that the scan found.
  await monitor.store([aChange({ check: plain.check, fingerprint: plain.check, from: pass, to: fail })]);
  await page.reload();
  await page.locator(".rule > summary", { hasText: /V-273186.*since .* or before$/ }).waitFor();
  await page.getByLabel("or the day").fill(new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10));
  await page.getByText("No scan or monitor evaluated the rules then").waitFor();
  await page.getByLabel("As of").selectOption("now");
  await page.getByText("1 FAIL", { exact: true }).waitFor();
});
