import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordEvents } from "../../../../gateway/library/record_events.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { deletingByAge } from "../../../../gateway/features/retention.ts";
import { scans as scanFeature } from "../../../../gateway/features/runs/scans.ts";
import { runTasks } from "../../../../gateway/features/features.ts";
import {
  observe,
  toRuleResult,
  type Observation,
  type RunObservation,
} from "../../../../shared/history/observation.ts";
import { ruleHistoryOf } from "../../../../shared/history/rule_history.ts";
import type { NewChange } from "../../../../shared/schemas/change.ts";
import type { RuleHistory } from "../../../../shared/schemas/history.ts";
import type { Organization, OrganizationHistory } from "../../../../shared/schemas/organization.ts";
import { fuzzed } from "../../../fuzz/fuzzed.ts";
import { aChange, fail, pass } from "../../../support/change_builders.ts";
import { createMonitorClient } from "../../../support/monitor_client.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";

/** On PostgreSQL, as the application's role, and bound to what the shared core says of the same runs. */
const gateway = await openTestGateway();
const producer = createProducer(gateway.url, gateway.acme.apiKey);

type Verdict = Exclude<NewChange["to"], null>;
type Verdicts = Readonly<Record<string, Verdict | undefined>>;

const [idle, adminConsole] = ["signon_global_session_idle_timeout_15min", "application_admin_console_mfa_required"];
const needsReview: Verdict = { status: "MANUAL", reason: "needs_review" };
const unread: Verdict = { status: "MANUAL", reason: "provider_error" };
const notApplicable: Verdict = { status: "MANUAL", reason: "not_applicable" };
const hour = 3_600_000;
/** A week ago, at the same hour of a day at each run, so that a seed always makes the same days. */
const base = Math.floor(Date.now() / (24 * hour)) * 24 * hour - 7 * 24 * hour + 10 * hour;
const period = { from: base - hour, to: base + 6 * 24 * hour };
const isoOf = (ms: number) => new Date(ms).toISOString();
const dependencies = () => ({ database: gateway.database, ...recordEvents(), log: silentLog });
const newUrl = () => `https://${randomUUID()}.okta.com`;

async function organizationOf(orgUrl: string): Promise<Organization> {
  const { items } = await gateway.read<{ readonly items: readonly Organization[] }>("/organizations?limit=200");
  const found = items.find(({ org_url: url }) => url === orgUrl);
  if (found === undefined) throw new Error(`${orgUrl} is not listed`);
  return found;
}

async function historyOf(orgUrl: string, { from, to } = period) {
  const { id } = await organizationOf(orgUrl);
  const path = `/organizations/${id}/history?from=${isoOf(from)}&to=${isoOf(to)}`;
  return (await gateway.read<OrganizationHistory>(path)).organizations[0]?.rules ?? [];
}

/** Exposures of the first rule, without the times that nobody knows. */
async function statusesOf(orgUrl: string, during = period) {
  const [rule] = await historyOf(orgUrl, during);
  return rule?.intervals.flatMap(({ status }) => (status === "UNKNOWN" ? [] : [status]));
}

function entriesOf(verdicts: Verdicts) {
  return Object.entries(verdicts).flatMap(([check, verdict]) =>
    verdict === undefined ? [] : [[check, verdict] as const],
  );
}

async function startScan(orgUrl: string, verdicts: Verdicts) {
  const scan = await producer.register({ org_url: `${orgUrl}/` });
  await scan.store(entriesOf(verdicts).map(([check, verdict]) => buildFinding({ check, ...verdict })));
  return scan;
}

const intervalHours = 2;

/** Polls at these times, with what it found moved. */
function createMonitor(orgUrl: string) {
  const client = createMonitorClient(gateway);
  const start = async () =>
    expect((await client.put({ org_url: orgUrl, interval_seconds: intervalHours * 3600 })).ok).toBe(true);
  let isStarted = false;
  const move = async (at: number, moved: Verdicts, fields: Partial<NewChange> = {}) => {
    const lines = entriesOf(moved).map(([check, to]) =>
      aChange({ check, fingerprint: `${check}:1`, from: null, to, seen_at: isoOf(at), ...fields }),
    );
    if (lines.length > 0) expect((await client.post(lines)).status).toBe(202);
  };
  return {
    client,
    start,
    move,
    async poll(at: number, moved: Verdicts = {}) {
      if (!isStarted) await start();
      isStarted = true;
      await move(at, moved);
      expect((await client.patch({ last_look_at: isoOf(at), log_status: "reading" })).status).toBe(200);
    },
  };
}

interface Poll {
  readonly at: number;
  readonly moved: Verdicts;
}

/** Observations that the core makes of the same polls. */
function observationsOf(monitors: readonly (readonly Poll[])[]): readonly RunObservation[] {
  const common = { severity: "medium", cause: "log" } as const;
  const resultsOf = (verdicts: Verdicts) =>
    Object.fromEntries(entriesOf(verdicts).map(([check, verdict]) => [check, toRuleResult(verdict, common)]));
  return monitors.flatMap((polls, index) => {
    let known: readonly Observation[] = [];
    for (const { at, moved } of polls)
      known = observe(known, { at, moved: resultsOf(moved), longestMs: 3 * intervalHours * hour });
    return known.map((one) => ({ runId: `monitor ${index}`, began: known[0]?.from ?? 0, ...one }));
  });
}

const anyVerdict = fc.constantFrom(pass, fail, needsReview, unread, notApplicable);
const anyVerdicts = fc.record({ [idle]: anyVerdict, [adminConsole]: anyVerdict }, { requiredKeys: [] });
/** Pauses of which some are longer than a monitor may be silent. */
const anyMonitor = fc.record({
  startsSeconds: fc.integer({ min: 0, max: 100_000 }),
  polls: fc.array(
    fc.record({
      pauseSeconds: fc.constantFrom(60, 7200, 21_600, 21_601, 50_000),
      moved: fc.option(anyVerdicts, { nil: {} }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

test("the history of an organization is what the core says of the same polls and silences of two monitors", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMonitor, { maxLength: 2 }),
      fc.infiniteStream(fc.nat(100)),
      async (monitorPlans, picks) => {
        const orgUrl = newUrl();
        const monitors = monitorPlans.map(({ startsSeconds, polls }) => {
          let at = base + startsSeconds * 1000;
          return polls.map(({ pauseSeconds, moved }) => ({ at: (at += pauseSeconds * 1000), moved }));
        });
        // Each monitor's own polls arrive in their order, and between them anything.
        const queues = monitors.map((polls) => {
          const monitor = createMonitor(orgUrl);
          return polls.map((poll) => () => monitor.poll(poll.at, poll.moved));
        });
        if (queues.length === 0) return;
        for (let left = queues; left.length > 0; left = left.filter((queue) => queue.length > 0)) {
          const pick = picks.next().value ?? 0;
          await left[pick % left.length]?.shift()?.();
        }
        const rules = await historyOf(orgUrl);
        const observations = observationsOf(monitors);
        const seen = new Set(observations.flatMap(({ results }) => Object.keys(results)));
        expect(rules.map(({ check }) => check)).toEqual([...seen].toSorted());
        for (const rule of rules) {
          const expected = ruleHistoryOf({ check: rule.check, vulnId: rule.vuln_id, observations, period });
          expect(namingNobody(rule)).toEqual(namingNobody(expected));
        }
      },
    ),
    fuzzed(process.env["NIGHTLY"] === "1" ? 50 : 8),
  );
});

/** The lines of the monitors name somebody. */
function namingNobody(rule: RuleHistory): RuleHistory {
  const exposures = rule.exposures.map((exposure) => {
    const closed = exposure.closed && { ...exposure.closed, actor: null };
    return { ...exposure, closed, actor: null };
  });
  return { ...rule, exposures };
}

describe("the state of an organization", () => {
  test("comes from completed scans only: one that ended otherwise may lack what it would have found", async () => {
    const orgUrl = newUrl();
    await createMonitor(orgUrl).client.put({ org_url: orgUrl, interval_seconds: 10 });
    const none = { fail: 0, pass: 0, not_evaluated: 29, last_scan_id: null };
    for (const end of ["cancelled", "failed", "expired", "deleted"] as const) {
      const { id, update } = await startScan(orgUrl, { [idle]: fail });
      if (end === "deleted") await gateway.send("DELETE", `/scans/${id}`);
      else if (end === "expired") {
        await gateway.owner("update runs set updated_at = now() - interval '1 hour' where id = $1::uuid", id);
        await runTasks([scanFeature], dependencies());
      } else await update({ status: end });
      expect(await organizationOf(orgUrl), end).toMatchObject(none);
    }
    expect(await historyOf(orgUrl)).toEqual([]);
    await (await startScan(orgUrl, { [idle]: fail, [adminConsole]: pass })).update({ status: "completed" });
    const one = await startScan(orgUrl, { [idle]: pass });
    await one.update({ status: "completed" });
    expect(await organizationOf(orgUrl), "a scan of one rule changes no other").toMatchObject({
      ...none,
      pass: 2,
      not_evaluated: 27,
      last_scan_id: one.id,
    });
  });

  test("is the monitor's while it runs, and what was known last afterwards", async () => {
    const orgUrl = newUrl();
    const monitor = createMonitor(orgUrl);
    await monitor.poll(Date.now() - hour, { [idle]: pass });
    await (await startScan(orgUrl, { [idle]: fail, [adminConsole]: fail })).update({ status: "completed" });
    expect(await organizationOf(orgUrl)).toMatchObject({ pass: 1, fail: 1, monitor_status: "running" });
    await monitor.client.patch({ status: "ended" });
    expect(await organizationOf(orgUrl)).toMatchObject({ pass: 0, fail: 2, monitor_status: "ended" });
  });
});

describe("a monitor", () => {
  test("a monitor that is started again with known results changes no history", async () => {
    const orgUrl = newUrl();
    const monitor = createMonitor(orgUrl);
    await monitor.poll(base, { [idle]: fail });
    const start = { cause: "start", explained_by: [] } as const;
    for (const pauseHours of [1, 24]) {
      await monitor.start();
      await monitor.move(base + pauseHours * hour, { [idle]: fail }, start);
      await monitor.poll(base + (pauseHours + 1) * hour);
    }
    const [rule] = await historyOf(orgUrl);
    expect(rule?.exposures).toMatchObject([{ opened: { known_at: isoOf(base) }, closed: null, cause: "log" }]);
    expect(await statusesOf(orgUrl)).toEqual(["FAIL", "FAIL"]);
  });

  test("whose changes arrive after its polls, as after an outage of the gateway, has each at its time", async () => {
    const orgUrl = newUrl();
    const monitor = createMonitor(orgUrl);
    await monitor.poll(base, { [idle]: pass });
    await monitor.poll(base + 24 * hour);
    await monitor.move(base + 10 * hour, { [idle]: fail });
    await monitor.move(base + 12 * hour, { [idle]: pass });
    await monitor.poll(base + 25 * hour);
    // Its log cannot be read from then on: it is alive, and knows nothing newer.
    for (const log_status of ["unreadable", "unreadable"] as const)
      await monitor.client.patch({ last_look_at: isoOf(base), log_status });
    const [rule] = await historyOf(orgUrl, { from: base, to: Date.now() });
    expect(rule?.exposures).toMatchObject([
      { opened: { known_at: isoOf(base + 10 * hour) }, closed: { known_at: isoOf(base + 12 * hour) } },
    ]);
    expect(rule?.intervals.at(-2)).toMatchObject({ status: "PASS", to: isoOf(base + 25 * hour) });
  });

  test("whose clock is ahead knows no time to come, and nothing is undone where it goes back", async () => {
    const orgUrl = newUrl();
    const monitor = createMonitor(orgUrl);
    await monitor.poll(Date.now() + 365 * 24 * hour, { [idle]: fail });
    await monitor.poll(base, { [idle]: pass });
    const [rule] = await historyOf(orgUrl, { from: base, to: Date.now() });
    expect(rule?.exposures).toHaveLength(1);
    expect(Date.parse(rule?.exposures[0]?.closed?.known_at ?? "")).toBeLessThanOrEqual(Date.now());
    expect((await organizationOf(orgUrl)).pass).toBe(1);
  });
});

test("HISTORY_DAYS forgets what is older, and keeps what a monitor that still polls knows", async () => {
  const orgUrl = newUrl();
  const ended = createMonitor(orgUrl);
  await ended.poll(base, { [idle]: pass, [adminConsole]: fail });
  await ended.poll(base + hour);
  await ended.client.patch({ status: "ended" });
  const monitor = createMonitor(orgUrl);
  await monitor.poll(base + 2 * hour, { [idle]: fail });
  await monitor.poll(base + 3 * hour, { [idle]: pass });
  for (let at = base + 5 * hour; at < Date.now(); at += 5 * hour) await monitor.poll(at);
  const cutDays = (Date.now() - (base + 3.5 * hour)) / (24 * hour);
  await runTasks([{ tasks: deletingByAge({ retentionDays: null, historyDays: cutDays }) }], dependencies());
  expect((await historyOf(orgUrl)).map(({ check }) => check)).toEqual([idle]);
  expect(await statusesOf(orgUrl)).toEqual(["PASS"]);
  expect(await organizationOf(orgUrl)).toMatchObject({ pass: 1, fail: 0, last_scan_id: null });
});
