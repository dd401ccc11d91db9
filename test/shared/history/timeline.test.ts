import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayMs, daysOf, exposuresOf, ruleHistoryOf } from "../../../shared/history/rule_history.ts";
import {
  isUnreadable,
  observe,
  rankOf,
  type Observation,
  type RuleResult,
  type RunObservation,
} from "../../../shared/history/observation.ts";
import { intervalsOf, timelineOf } from "../../../shared/history/timeline.ts";
import { isHolding } from "../../../shared/rule_result.ts";
import { fuzzed } from "../../fuzz/fuzzed.ts";

const common = { severity: "high", cause: "log" } as const;
const pass: RuleResult = { status: "PASS", ...common };
const fail: RuleResult = { status: "FAIL", ...common };
const manual: RuleResult = { status: "MANUAL", reason: "needs_review", ...common };
const notApplicable: RuleResult = { status: "MANUAL", reason: "not_applicable", ...common };
const unreadable: RuleResult = { status: "MANUAL", reason: "missing_scope", ...common };
const interrupted: RuleResult = { status: "MANUAL", reason: "interrupted", ...common };
const check = "zones";
const tick = 1000;
/** In ticks: a monitor that is silent for longer has a gap. */
const longest = 5;

const span = (from: number, to: number) => ({ from: from * tick, to: to * tick });

function scan(runId: string, from: number, to: number, result: RuleResult): readonly RunObservation[] {
  return [{ runId, began: from * tick, ...span(from, to), results: { [check]: result } }];
}

interface Moment {
  readonly at: number;
  readonly result?: RuleResult | undefined;
}

/** A monitor that was alive at these moments, at some of which its result moved. */
function monitor(runId: string, moments: readonly Moment[]): readonly RunObservation[] {
  let known: readonly Observation[] = [];
  for (const { at, result } of moments) {
    const moved = result === undefined ? {} : { [check]: result };
    known = observe(known, { at: at * tick, moved, longestMs: longest * tick });
  }
  return known.map((one) => ({ runId, began: known[0]?.from ?? 0, ...one }));
}

const alive = (from: number, to: number): readonly Moment[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ at: from + index }));

describe("exposuresOf", () => {
  const ann = { id: "1", login: "ann@acme.example", name: "Ann" };
  const ben = { id: "2", login: "ben@acme.example", name: "Ben" };
  const exposures = (observations: readonly RunObservation[], from = 0) =>
    exposuresOf(timelineOf(check, observations), span(from, 100));
  const time = (at: number) => new Date(at * tick).toISOString();

  it("gives the least and the most time, and who opened and closed it, whoever said so again", () => {
    const watched = monitor("m", [
      { at: 0, result: pass },
      ...alive(1, 29),
      { at: 30, result: { ...fail, actor: ann, unseenMs: 2 * tick } },
      ...alive(31, 40),
      { at: 60, result: fail },
      ...alive(61, 69),
      { at: 70, result: { ...pass, actor: ben, unseenMs: 3 * tick } },
      ...alive(71, 100),
    ]);
    expect(exposures(watched)).toEqual([
      {
        opened: { not_before: time(28), known_at: time(30) },
        closed: { not_before: time(67), known_at: time(70), actor: ben },
        actor: ann,
        cause: "log",
        least_seconds: 17,
        most_seconds: 42,
      },
    ]);
  });

  it("is closed by PASS or Not Applicable only", () => {
    const scans = [...scan("a", 10, 11, fail), ...scan("b", 20, 21, manual), ...scan("c", 30, 31, unreadable)];
    expect(exposures(scans)).toMatchObject([{ closed: null, least_seconds: 1, most_seconds: null }]);
    const all = [...scan("z", 5, 6, pass), ...scans, ...scan("d", 40, 42, notApplicable)];
    expect(exposures(all)).toMatchObject([
      {
        opened: { not_before: time(6), known_at: time(10) },
        closed: { not_before: time(11), known_at: time(40) },
        least_seconds: 1,
        most_seconds: 34,
      },
    ]);
  });

  it("sees a result that was known for a moment only", () => {
    const watched = monitor("m", [{ at: 0, result: pass }, ...alive(1, 29), { at: 30, result: fail }]);
    expect(exposures(watched)).toMatchObject([{ closed: null, least_seconds: 0, most_seconds: 70 }]);
  });

  it("leaves out those that ended before the period", () => {
    const scans = [...scan("a", 10, 11, fail), ...scan("b", 20, 21, pass)];
    expect(exposures(scans, 20)).toHaveLength(1);
    expect(exposures(scans, 21)).toHaveLength(0);
  });
});

it("daysOf gives the worst that was known on each UTC day", () => {
  const day = dayMs / tick;
  const scans = [
    ...scan("a", 5, 8, pass),
    ...scan("b", day - 2, day + 2, fail),
    ...scan("c", day + 5, day + 6, pass),
    ...scan("d", 3 * day, 3 * day + 1, notApplicable),
  ];
  expect(daysOf(timelineOf(check, scans), span(0, 4 * day))).toEqual([
    { day: "1970-01-01", status: "FAIL", known_seconds: 5 },
    { day: "1970-01-02", status: "FAIL", known_seconds: 3 },
    { day: "1970-01-03", status: "UNKNOWN", known_seconds: 0 },
    { day: "1970-01-04", status: "MANUAL", reason: "not_applicable", known_seconds: 1 },
  ]);
});

const someResult = fc.constantFrom(pass, fail, manual, notApplicable, unreadable, interrupted);
/** Some pauses are longer than a monitor may be silent. */
const someMoments = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.option(someResult, { nil: undefined })), { maxLength: 12 })
  .map((steps) => {
    let at = 0;
    return steps.map(([pause, result]): Moment => ({ at: (at += pause), result }));
  });
const someRuns = fc.array(someMoments, { maxLength: 4 });
const observationsOf = (runs: readonly (readonly Moment[])[]) =>
  runs.flatMap((moments, index) => monitor(`run ${index}`, moments));

/** Returns the result that is known of the tick after a time, written as the rules are: a slow oracle for the timeline. */
function resultAt(runs: readonly (readonly Moment[])[], at: number): RuleResult | undefined {
  const known = runs.flatMap((moments) => {
    const index = moments.findLastIndex((one) => one.at <= at);
    const next = moments[index + 1];
    const isWatched = next !== undefined && next.at - (moments[index]?.at ?? -Infinity) <= longest;
    const result = moments.slice(0, index + 1).findLast((one) => one.result !== undefined)?.result;
    const began = moments.find((one) => one.result !== undefined)?.at ?? 0;
    const isKnown = result !== undefined && !isUnreadable(result) && result !== interrupted;
    return isWatched && isKnown ? [{ began, result }] : [];
  });
  return known.sort((one, other) => other.began - one.began || rankOf(other.result) - rankOf(one.result))[0]?.result;
}

/** The nightly run tries each property ten times as often. */
const longer = process.env["NIGHTLY"] === "1" ? 10 : 1;

describe("the history of a rule", () => {
  const period = span(0, 100);

  it("covers the wall clock exactly once, whatever happened, and calls no unknown time PASS", () => {
    fc.assert(
      fc.property(someRuns, (runs) => {
        const found = intervalsOf(timelineOf(check, observationsOf(runs)), period);
        expect(Date.parse(found[0]?.from ?? "")).toBe(period.from);
        expect(Date.parse(found.at(-1)?.to ?? "")).toBe(period.to);
        for (const [index, { from, to, status, reason }] of found.entries()) {
          expect(Date.parse(from)).toBeLessThan(Date.parse(to));
          if (index > 0) expect(from).toBe(found[index - 1]?.to);
          for (let at = Date.parse(from); at < Date.parse(to); at += tick) {
            const known = resultAt(runs, at / tick);
            const shown = status === "UNKNOWN" ? undefined : [status, reason];
            expect(shown).toEqual(known && [known.status, known.reason ?? null]);
          }
        }
      }),
      fuzzed(200 * longer),
    );
  });

  it("is read where thousands of runs overlap: each time is decided once, however many know it", () => {
    const runs = Array.from({ length: 20_000 }, (_, n) =>
      scan(`${n}`, n, 40_000 - n, n % 2 === 0 ? fail : pass),
    ).flat();
    const timeline = timelineOf(check, runs);
    expect(timeline).toHaveLength(39_999);
    expect([timeline[1]?.result, timeline.at(-2)?.result]).toEqual([pass, pass]);
  });

  it("does not depend on the order of the observations", () => {
    const shuffled = someRuns.chain((runs) => {
      const observations = observationsOf(runs);
      return fc.tuple(
        fc.constant(observations),
        fc.shuffledSubarray([...observations], { minLength: observations.length }),
      );
    });
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const history = (observations: readonly RunObservation[]) =>
          ruleHistoryOf({ check, vulnId: null, observations, period });
        expect(history(other)).toEqual(history(one));
      }),
      fuzzed(50 * longer),
    );
  });

  it("is the same for a result that arrives after later polls, except that less is known", () => {
    fc.assert(
      fc.property(someMoments, fc.nat(11), fc.nat(4), (moments, place, late) => {
        const index = moments.findIndex(({ result }, at) => at >= place && result !== undefined);
        if (index < 0) return;
        const until = moments.findIndex(({ result }, at) => at > index && (result !== undefined || at > index + late));
        const end = until < 0 ? moments.length : until;
        const delayed = [
          ...moments.slice(0, index),
          ...moments.slice(index + 1, end),
          ...moments.slice(index, index + 1),
        ];
        const inOrder = timelineOf(check, monitor("m", moments));
        for (const { from, to, result } of timelineOf(check, monitor("m", [...delayed, ...moments.slice(end)]))) {
          const same = inOrder.filter((one) => one.from <= from && to <= one.to);
          expect(same.map((one) => one.result.status)).toContain(result.status);
        }
      }),
      fuzzed(200 * longer),
    );
  });

  it("is in an exposure exactly while a FAIL was known and nothing has closed it", () => {
    fc.assert(
      fc.property(someRuns, (runs) => {
        const timeline = timelineOf(check, observationsOf(runs));
        const exposures = exposuresOf(timeline, period);
        const failed = intervalsOf(timeline, period).filter(({ status }) => status === "FAIL");
        const seconds = failed.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0) / 1000;
        expect(exposures.reduce((sum, one) => sum + one.least_seconds, 0)).toBe(seconds);
        for (const { opened, closed, least_seconds: least, most_seconds: most } of exposures) {
          expect(least).toBeLessThanOrEqual(most ?? Infinity);
          const inside = timeline.filter(
            ({ from }) => Date.parse(opened.known_at) < from && from < Date.parse(closed?.known_at ?? "9999"),
          );
          expect(inside.some(({ result }) => isHolding(result))).toBe(false);
        }
        // A day is UNKNOWN exactly where nothing was known, at no moment.
        const isKnown = timeline.some(({ result }) => !isUnreadable(result));
        expect(daysOf(timeline, period).map(({ status }) => status !== "UNKNOWN")).toEqual([isKnown]);
      }),
      fuzzed(100 * longer),
    );
  });
});
