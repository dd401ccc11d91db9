import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { scanEvents } from "../../shared/scan_events.ts";
import { reportUpload } from "../support/report_builders.ts";
import { buildFinding } from "../support/scan_producer.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage } from "./watched_page.ts";

/** A scan, from the moment in which it appears to that in which it is deleted. */

const { browser, gateway, demoTenant } = await openStage();

test("follows a scan from its start to its end without a reload", async () => {
  const acme = await demoTenant();
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
  await page.evaluate(() => Reflect.set(globalThis, "isStillThere", true));

  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 4 });
  // The demo opens it by itself.
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await watched.untilConnection("live");
  await page.getByText("Findings appear here as the scan makes them.").waitFor();

  await scan.publish("scan.start", { checks_total: 4 });
  const idle = buildFinding({ resource_name: "Default Policy", actual: "never" });
  await scan.check("signon_global_session_idle_timeout_15min", [buildFinding({ status: "PASS" }), idle], {
    done: 1,
    total: 4,
  });
  await page.locator(".progress-figures", { hasText: "1of 4 checks" }).waitFor();
  await page
    .locator('[aria-live="polite"]', { hasText: "1 of 4 checks done: 0 passed, 1 failed, 0 need manual review, 0 N/A" })
    .waitFor({ state: "attached" });
  const bar = page.getByRole("progressbar", { name: "Progress" });
  expect(await bar.getAttribute("aria-valuenow")).toBe("1");
  expect(await bar.getAttribute("aria-valuemax")).toBe("4");
  // The findings are other events, and may come a moment later.
  await expect.poll(() => page.locator(".tile.tone-fail dd").textContent()).toBe("1");
  expect(await page.locator(".progress-latest").textContent()).toBe(
    "FailV-273186 · CAT II · Okta must log out a session after a 15-minute period of inactivity.",
  );
  expect(await page.locator(".checks-table tbody tr").count()).toBe(1);
  expect(await page.locator(".finding").count()).toBe(2);

  await page.locator(".finding summary", { hasText: "Default Policy" }).click();
  const opened = page.locator(".finding[open]");
  await opened.getByText("never", { exact: true }).waitFor();
  expect(await opened.locator(".fact-expected").textContent()).toBe("at most 15 minutes");
  await opened.getByText("Global Session Policy").first().waitFor();

  await scan.check(
    "apitoken_not_super_admin",
    [buildFinding({ check: "apitoken_not_super_admin", status: "MANUAL" })],
    { done: 2, total: 4 },
  );
  await scan.check(
    "systemlog_streaming_enabled",
    [buildFinding({ check: "systemlog_streaming_enabled", status: "PASS", severity: "high" })],
    { done: 3, total: 4 },
  );
  const inactivity = "user_inactivity_automation_35d_enabled";
  await scan.check(inactivity, [buildFinding({ check: inactivity, status: "MANUAL", reason: "not_applicable" })], {
    done: 4,
    total: 4,
  });
  await page.locator(".progress-figures", { hasText: "4of 4 checks" }).waitFor();
  await scan.end("completed", { pass: 1, fail: 1, manual: 1, not_applicable: 1 });
  await watched.untilConnection("ended");
  await page.locator(".scan-title .badge", { hasText: "Completed" }).waitFor();
  expect(await page.locator(".tile dd").allTextContents()).toEqual(["1", "1", "1", "1"]);
  expect(await page.getByRole("button", { name: "Cancel scan" }).isVisible()).toBe(false);
  expect(await page.evaluate(() => Reflect.get(globalThis, "isStillThere"))).toBe(true);
});

test("stays at the scan that was chosen and offers a newer one", async () => {
  const acme = await demoTenant();
  const ended = await acme.producer.register({ org_url: "https://chosen.okta.com", checks_total: 0 });
  await ended.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${ended.id}`);
  const { page } = watched;
  await watched.untilConnection("ended");
  await page.getByText("This scan has no findings.").waitFor();
  const newer = await acme.producer.register({ org_url: "https://newer.okta.com", checks_total: 1 });
  const offer = page.getByText("A new scan of newer.okta.com is waiting to start.");
  await offer.waitFor();
  expect(new URL(page.url()).hash).toBe(`#/scans/${ended.id}`);
  await page.getByRole("link", { name: "Watch it" }).click();
  await page.getByRole("heading", { level: 1, name: "newer.okta.com" }).waitFor();
  await watched.untilConnection("live");
  expect(await offer.isVisible()).toBe(false);
  await newer.end("completed", { pass: 0, fail: 0, manual: 0 });
});

test("the demo opens a scan that starts while it shows an ended one", async () => {
  const acme = await demoTenant();
  const first = await acme.producer.register({ org_url: "https://first.okta.com", checks_total: 0 });
  await using watched = await openPage(browser, gateway.url);
  await watched.page.getByRole("heading", { level: 1, name: "first.okta.com" }).waitFor();
  await first.end("completed", { pass: 0, fail: 0, manual: 0 });
  await watched.untilConnection("ended");
  const second = await acme.producer.register({ org_url: "https://second.okta.com", checks_total: 1 });
  await watched.page.getByRole("heading", { level: 1, name: "second.okta.com" }).waitFor();
  await second.end("completed", { pass: 0, fail: 0, manual: 0 });
});

test("the cancel button asks the scanner to stop", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://cancel.okta.com", checks_total: 2 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("live");
  await page.getByRole("button", { name: "Cancel scan" }).click();
  const asked = page.getByRole("button", { name: "Cancelling…" });
  await asked.waitFor();
  expect(await asked.isDisabled()).toBe(true);
  await scan.end("cancelled", { pass: 0, fail: 0, manual: 0 });
  await page.locator(".scan-title .badge", { hasText: "Cancelled" }).waitFor();
  expect(await asked.isVisible()).toBe(false);
});

test("an address leads to what it names, also with a query of others, and else says that there is no such page", async () => {
  const acme = await demoTenant();
  const older = await acme.producer.register({ org_url: "https://older.okta.com", checks_total: 0 });
  await older.end("completed", { pass: 0, fail: 0, manual: 0 });
  const newest = await acme.producer.register({ org_url: "https://newest.okta.com", checks_total: 0 });
  await newest.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using named = await openPage(browser, `${gateway.url}/#/scans/${older.id}?utm_source=mail`);
  await named.page.getByRole("heading", { level: 1, name: "older.okta.com" }).waitFor();
  for (const hash of ["#/garbage", "#/scans/%E0%A4%A"]) {
    await using watched = await openPage(browser, `${gateway.url}/${hash}`);
    await watched.page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(new URL(watched.page.url()).hash).toBe(hash);
  }
});

test("a scan that has ended begins with the changes that close most rules, also where it was watched from the start", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 4 });
  await scan.update({ status: "running" });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("live");
  const rule = { cause: "aaaaaaaaaaaa", status: "FAIL" } as const;
  const findings = [
    buildFinding({ check: "check_one", ...rule, to_pass: 'In rule "Lax" of the policy "P": set b' }),
    buildFinding({ check: "check_two", ...rule, to_pass: 'In rule "Lax" of the policy "P": set c' }),
    buildFinding({
      check: "check_two",
      status: "FAIL",
      cause: "bbbbbbbbbbbb",
      to_pass: "In the app: set d",
      evaluation:
        '→ "Lax" (priority 1): ALLOW, for everybody who reaches it; decides\n  "Strict" (priority 2): DENY, never reached',
    }),
    buildFinding({ check: "check_three", status: "FAIL" }),
    buildFinding({ check: "check_four", status: "PASS" }),
    ...["c", "d"].map((id) =>
      buildFinding({ check: `check_${id}`, status: "FAIL", cause: id.repeat(12), to_pass: `In the zone: set ${id}` }),
    ),
  ];
  for (const { check, status, severity, resource_name, detail, fingerprint } of findings) {
    const payload = { scan_id: scan.id, check, status, severity, resource_name, detail, fingerprint };
    await scanEvents(gateway.publisher).publishFindingCreated(scan.channel, payload);
  }
  await scan.store(findings);
  await page.getByText("7 findings", { exact: true }).waitFor();
  expect(await page.locator(".causes").count()).toBe(0);
  await scan.end("completed", { pass: 1, fail: 3, manual: 0 });
  await page
    .getByRole("heading", { name: "4 changes close all 4 rules that can be closed by a change (of 5 that fail)" })
    .waitFor();
  const listed = await page.locator(".causes > .causes-list li").allInnerTexts();
  expect(listed.map((text) => text.replaceAll(/\n+/g, "\n"))).toEqual([
    'In rule "Lax" of the policy "P": set b; set c\ncloses 1 rule now, 1 more together with change 4 · aaaaaaaaaaaa',
    "In the zone: set c\ncloses 1 rule now · cccccccccccc",
    "In the zone: set d\ncloses 1 rule now · dddddddddddd",
  ]);
  await page.getByText("1 more change", { exact: true }).click();
  await page.getByText("closes 1 rule together with change 1 · bbbbbbbbbbbb").waitFor();
  await page.getByText(findings[2]?.resource_name ?? "", { exact: true }).click();
  await page.getByText("In the app: set d").nth(1).waitFor();
  expect(await page.locator(".evaluation-rules").innerText()).toContain(
    '\n  "Strict" (priority 2): DENY, never reached',
  );
});

test("the report of a scan is downloaded in the formats that people ask for, loaded when the first one is", async () => {
  const acme = await demoTenant();
  const scan = await endedScan(acme, "https://acme.okta.com");
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page, requestUrls } = watched;
  await watched.untilConnection("ended");
  const hasLoaded = () => requestUrls.some((url) => /\/assets\/reports-/.test(url));
  expect(hasLoaded()).toBe(false);
  const texts: Record<string, string> = {};
  for (const name of ["HTML", "CKLB", "CSV", "JSON"]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("group", { name: "Report" }).getByRole("button", { name, exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^scan-${scan.id}\\.[a-z]+$`));
    texts[name] = await readFile(await download.path(), "utf8");
  }
  expect(hasLoaded()).toBe(true);
  expect(texts["HTML"]).toMatch(/^<!doctype html>/i);
  expect(texts["HTML"]).toContain("V-273186");
  expect(JSON.parse(texts["CKLB"] ?? "")).toMatchObject({ cklb_version: "1.0" });
  expect(texts["CSV"]).toContain("V-273186");
  expect(JSON.parse(texts["JSON"] ?? "")).toMatchObject({ schema: "scanstream.report/1", scan: { id: scan.id } });
});

test("without a stored report the page says so", async () => {
  const { producer } = await demoTenant();
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 0 });
  await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  await watched.untilConnection("ended");
  await watched.page.getByRole("button", { name: "CSV" }).click();
  await watched.page.getByRole("alert").getByText("No report was uploaded for this scan").waitFor();
});

test("a scan is deleted after a second question, and leaves every page at once", async () => {
  const acme = await demoTenant();
  const scan = await endedScan(acme, "https://gone.okta.com");
  await endedScan(acme, "https://kept.okta.com");
  const address = `${gateway.url}/#/scans/${scan.id}`;
  await using deleting = await openPage(browser, address);
  await using looking = await openPage(browser, address);
  await using listing = await openPage(browser, gateway.url);
  await listing.page.locator(".scan-link", { hasText: "gone.okta.com" }).waitFor();
  for (const { page } of [deleting, looking]) await page.getByRole("heading", { name: "gone.okta.com" }).waitFor();
  const { page } = deleting;
  await page.getByRole("button", { name: "Delete scan" }).click();
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Delete scan" }).click();
  await page.getByRole("button", { name: "Delete for good" }).click();
  for (const watched of [deleting, listing]) {
    await watched.page.locator(".scan-link", { hasText: "gone.okta.com" }).waitFor({ state: "detached" });
    await watched.page.locator(".scan-link", { hasText: "kept.okta.com" }).waitFor();
  }
  await looking.page.getByRole("heading", { name: "This scan was deleted" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#/");
});

async function endedScan({ producer, apiKey }: WebTenant, orgUrl: string) {
  const scan = await producer.register({ org_url: orgUrl, checks_total: 1 });
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  const upload = reportUpload(scan.id);
  const stored = await fetch(`${gateway.url}/api/v1/scans/${scan.id}/report`, {
    ...upload,
    headers: { ...upload.headers, authorization: `Api-Key ${apiKey}` },
  });
  expect(stored.status).toBe(201);
  return scan;
}
