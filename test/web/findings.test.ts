import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { publishFindingCreated } from "../../shared/scan_events.ts";
import { buildFinding, type ProducedScan } from "../support/scan_producer.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway, demoTenant } = await openStage();

test("filters findings by result, severity, text and check, and sorts them", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 2 });
  await scan.store([
    buildFinding({ check: "check_one", resource_name: "Alpha", status: "PASS", severity: "high" }),
    buildFinding({ check: "check_one", resource_name: "Beta", status: "FAIL", severity: "low" }),
    buildFinding({
      check: "check_two",
      resource_name: "Gamma",
      status: "MANUAL",
      severity: "high",
      actual: "a custom factor",
    }),
    buildFinding({ check: "check_two", resource_name: "Delta", status: "FAIL", severity: "high" }),
  ]);
  await scan.end("completed", { pass: 0, fail: 2, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await watched.untilConnection("ended");
  await untilNames(page, ["Delta", "Beta", "Gamma", "Alpha"]);

  await page.getByRole("button", { name: /^Fail/ }).click();
  await untilNames(page, ["Delta", "Beta"]);
  await page.getByRole("button", { name: /^CAT I \d/ }).click();
  await untilNames(page, ["Delta"]);
  await page.getByText("1 of 4 findings").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Filter by text").fill("custom FACTOR");
  await untilNames(page, ["Gamma"]);
  await page.getByLabel("Filter by text").fill("nothing has this");
  await page.getByText("No finding matches these filters.").waitFor();
  await page.getByLabel("Filter by text").fill("");
  await page.getByRole("button", { name: /Check one/ }).click();
  await untilNames(page, ["Beta", "Alpha"]);
  await page.getByRole("button", { name: "Show the findings of all checks" }).click();
  await page.getByLabel("Order").selectOption("By resource");
  await untilNames(page, ["Alpha", "Beta", "Delta", "Gamma"]);
  await page.getByLabel("Order").selectOption("Newest first");
  expect(await page.locator(".finding").count()).toBe(4);
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
  await publishMany(scan, findings);
  await scan.store(findings);
  await page.getByText("7 findings", { exact: true }).waitFor();
  expect(await page.locator(".causes").count()).toBe(0);
  await scan.end("completed", { pass: 1, fail: 3, manual: 0 });
  await page.getByRole("heading", { name: "4 changes close 4 of 5 rules" }).waitFor();
  const listed = await page.locator(".causes > .causes-list li").allInnerTexts();
  expect(listed.map((text) => text.replaceAll(/\n+/g, "\n"))).toEqual([
    'In rule "Lax" of the policy "P": set b; set c\n2 rules, 2 findings · aaaaaaaaaaaa',
    "In the app: set d\n1 rule, 1 finding · bbbbbbbbbbbb",
    "In the zone: set c\n1 rule, 1 finding · cccccccccccc",
  ]);
  await page.getByText("1 more change", { exact: true }).click();
  await page.getByText("In the zone: set d").waitFor();
  await page.getByText(findings[2]?.resource_name ?? "", { exact: true }).click();
  await page.getByText("In the app: set d").nth(1).waitFor();
  expect(await page.locator(".evaluation-rules").innerText()).toContain(
    '\n  "Strict" (priority 2): DENY, never reached',
  );
});

/** CPU time, because others use the machine; half a second feels slow, and the longest takes a tenth of it. */
const longestTaskMs = 500;

test("stays responsive with a scan of 10,000 findings", async () => {
  const acme = await demoTenant();
  const scan = await acme.producer.register({ org_url: "https://large.okta.com", checks_total: 20 });
  await scan.update({ status: "running" });
  await scan.store(buildMany(5000, "stored"));
  await browser.startTracing(undefined, { categories: ["toplevel"] });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page } = watched;
  await page.getByText("5,000 findings", { exact: true }).waitFor();
  await watched.untilConnection("live");

  await publishMany(scan, buildMany(5000, "streamed"));
  await page.getByText("10,000 findings", { exact: true }).waitFor();
  await page.getByLabel("Filter by text").pressSequentially("streamed resource 4999");
  await page.getByText("1 of 10,000 findings").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("10,000 findings", { exact: true }).waitFor();
  for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, 4000);
  // Scrolling has made more rows than those of the beginning.
  await page.locator(".finding").nth(150).waitFor({ state: "attached" });
  expect(longestTaskOf(await browser.stopTracing())).toBeLessThan(longestTaskMs);
  await scan.end("completed", { pass: 0, fail: 20, manual: 0 });
  await watched.untilConnection("ended");
});

function buildMany(count: number, name: string): ReturnType<typeof buildFinding>[] {
  return Array.from({ length: count }, (_finding, index) =>
    buildFinding({
      check: `check_${index % 20}`,
      resource_name: `${name} resource ${index}`,
      status: index % 3 === 0 ? "FAIL" : "PASS",
    }),
  );
}

/** As a scanner with broker credentials does: nothing slows it down. */
async function publishMany(scan: ProducedScan, findings: ReturnType<typeof buildMany>): Promise<void> {
  for (const { check, status, severity, resource_name, detail, fingerprint } of findings) {
    const payload = { scan_id: scan.id, check, status, severity, resource_name, detail, fingerprint };
    await publishFindingCreated(gateway.publisher, scan.channel, payload);
  }
}

async function untilNames(page: Page, names: readonly string[]): Promise<void> {
  await expect.poll(() => page.locator(".finding-name").allTextContents(), { timeout: 5000 }).toEqual(names);
}

/** CPU time of one task of a page's main thread, in ms, https://chromium.googlesource.com/catapult/+/HEAD/docs/trace-event-format.md */
function longestTaskOf(trace: Uint8Array): number {
  const { traceEvents } = JSON.parse(new TextDecoder().decode(trace)) as { traceEvents: readonly TraceEvent[] };
  const mains = traceEvents
    .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
    .map(({ pid, tid }) => `${pid}:${tid}`);
  const tasks = traceEvents
    .filter(({ pid, tid, tdur }) => tdur !== undefined && mains.includes(`${pid}:${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000);
  expect(tasks.length).toBeGreaterThan(100);
  return Math.max(...tasks);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time in µs. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}
