import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayMs, daysOf } from "../../../shared/history/days.ts";
import { exposuresOf } from "../../../shared/history/exposures.ts";
import { ruleHistoryOf } from "../../../shared/history/rule_history.ts";
import { isUnreadable, rankOf, type VerdictPoint, type VerdictSource } from "../../../shared/history/source.ts";
import { isHolding } from "../../../shared/rule_result.ts";
import { fuzzed } from "../../fuzz/fuzzed.ts";
import { intervalsOf, timelineOf } from "../../../shared/history/timeline.ts";

const verdicts = [
  { status: "PASS", reason: null },
  { status: "FAIL", reason: null },
  { status: "MANUAL", reason: "needs_review" },
  { status: "MANUAL", reason: "not_applicable" },
  { status: "MANUAL", reason: "missing_scope" },
] as const;
const [pass, fail, manual, notApplicable, unreadable] = verdicts;
const tick = 1000;

function point(at: number, verdict: (typeof verdicts)[number], rest: Partial<VerdictPoint> = {}): VerdictPoint {
  return { at: at * tick, ...verdict, cause: "log", actor: null, fingerprints: [], ...rest };
}

function span(from: number, to: number) {
  return { from: from * tick, to: to * tick };
}

function scan(id: string, from: number, to: number, verdict: (typeof verdicts)[number]): VerdictSource {
  return { id, spans: [span(from, to)], points: [point(from, verdict, { cause: "scan" })] };
}

function intervals(sources: readonly VerdictSource[], to = 100) {
  return intervalsOf(timelineOf(sources), span(0, to)).map(
    ({ from, to: end, status, reason }) => `${Date.parse(from) / tick}-${Date.parse(end) / tick} ${reason ?? status}`,
  );
}

describe("intervalsOf", () => {
  it("knows a scan's time and nothing else", () => {
    expect(intervals([scan("a", 10, 20, pass)])).toEqual(["0-10 UNKNOWN", "10-20 PASS", "20-100 UNKNOWN"]);
  });

  it("begins a follower's verdict when it was seen, and ends it with the last poll", () => {
    const monitor = { id: "m", spans: [span(0, 50)], points: [point(10, pass), point(30, fail)] };
    expect(intervals([monitor])).toEqual(["0-10 UNKNOWN", "10-30 PASS", "30-50 FAIL", "50-100 UNKNOWN"]);
  });

  it("goes on with a monitor's verdict after a gap", () => {
    const monitor = { id: "m", spans: [span(0, 20), span(40, 60)], points: [point(0, pass)] };
    expect(intervals([monitor], 60)).toEqual(["0-20 PASS", "20-40 UNKNOWN", "40-60 PASS"]);
  });

  it("lets the source that began last decide, and the worse of two that began together", () => {
    const monitor = { id: "m", spans: [span(0, 100)], points: [point(0, pass)] };
    expect(intervals([monitor, scan("s", 40, 50, fail)])).toEqual(["0-40 PASS", "40-50 FAIL", "50-100 PASS"]);
    expect(intervals([scan("a", 0, 100, pass), scan("b", 0, 50, fail)])).toEqual(["0-50 FAIL", "50-100 PASS"]);
  });

  it("lets a source that could not read the rule decide nothing where another knows it", () => {
    const monitor = { id: "m", spans: [span(0, 50)], points: [point(0, pass)] };
    expect(intervals([monitor, scan("s", 40, 60, unreadable)])).toEqual([
      "0-50 PASS",
      "50-60 missing_scope",
      "60-100 UNKNOWN",
    ]);
  });
});

describe("exposuresOf", () => {
  const ann = { id: "1", login: "ann@acme.example", name: "Ann" };
  const ben = { id: "2", login: "ben@acme.example", name: "Ben" };
  const exposures = (sources: readonly VerdictSource[], from = 0) => exposuresOf(timelineOf(sources), span(from, 100));
  const time = (at: number) => new Date(at * tick).toISOString();

  it("gives the least and the most time, and who opened and closed it", () => {
    const monitor = {
      id: "m",
      spans: [span(0, 40), span(60, 100)],
      points: [point(0, pass), point(30, fail, { actor: ann }), point(70, pass, { actor: ben })],
    };
    expect(exposures([monitor])).toEqual([
      {
        opened: { not_before: time(30), known_at: time(30) },
        closed: { not_before: time(70), known_at: time(70), actor: ben },
        actor: ann,
        cause: "log",
        least_seconds: 20,
        most_seconds: 40,
      },
    ]);
  });

  it("is closed by PASS or Not Applicable only", () => {
    const scans = [scan("a", 10, 11, fail), scan("b", 20, 21, manual), scan("c", 30, 31, unreadable)];
    expect(exposures(scans)).toMatchObject([{ closed: null, least_seconds: 1, most_seconds: 90 }]);
    expect(exposures([scan("z", 5, 6, pass), ...scans, scan("d", 40, 42, notApplicable)])).toMatchObject([
      {
        opened: { not_before: time(6), known_at: time(10) },
        closed: { not_before: time(11), known_at: time(40) },
        least_seconds: 1,
        most_seconds: 34,
      },
    ]);
  });

  it("sees a verdict that was known for a moment only", () => {
    const monitor = { id: "m", spans: [span(0, 30)], points: [point(0, pass), point(30, fail)] };
    expect(exposures([monitor])).toMatchObject([{ closed: null, least_seconds: 0, most_seconds: 70 }]);
  });

  it("keeps one that was opened before everything that is still stored", () => {
    const opened = { not_before: null, known_at: "1969-12-31T23:59:00.000Z" };
    const carried = { opened, actor: ann, cause: "log" } as const;
    const found = exposuresOf(timelineOf([scan("a", 10, 12, fail)]), span(0, 100), carried);
    expect(found).toMatchObject([{ opened, closed: null, actor: ann, least_seconds: 2, most_seconds: 160 }]);
  });

  it("leaves out those that ended before the period", () => {
    const scans = [scan("a", 10, 11, fail), scan("b", 20, 21, pass)];
    expect(exposures(scans, 20)).toHaveLength(1);
    expect(exposures(scans, 21)).toHaveLength(0);
  });
});

describe("daysOf", () => {
  it("gives the worst that was known on each UTC day", () => {
    const day = dayMs / tick;
    const sources = [
      scan("a", 5, 8, pass),
      scan("b", day - 2, day + 2, fail),
      scan("c", day + 5, day + 6, pass),
      scan("d", 3 * day, 3 * day + 1, notApplicable),
    ];
    expect(daysOf(timelineOf(sources), span(0, 4 * day))).toEqual([
      { day: "1970-01-01", status: "FAIL", known_seconds: 5 },
      { day: "1970-01-02", status: "FAIL", known_seconds: 3 },
      { day: "1970-01-03", status: "UNKNOWN", known_seconds: 0 },
      { day: "1970-01-04", status: "MANUAL", reason: "not_applicable", known_seconds: 1 },
    ]);
  });
});

const end = 60;
const times = fc.nat({ max: end });
const someVerdict = fc.constantFrom(...verdicts);
/** A monitor is started again, loses time, and its clock jumps: spans and points come in any order, and overlap. */
const someSource = fc.record({
  id: fc.constantFrom("a", "b", "c", "d"),
  spans: fc.array(
    fc.tuple(times, times).map(([from, to]) => span(from, to)),
    { maxLength: 4 },
  ),
  points: fc.array(
    fc.tuple(times, someVerdict).map(([at, verdict]) => point(at, verdict)),
    { minLength: 1, maxLength: 5 },
  ),
});
const someSources = fc.uniqueArray(someSource, { maxLength: 4, selector: ({ id }) => id });

/** What is known of the second after a time, written as the rules are: a slow oracle for the timeline. */
function verdictAt(sources: readonly VerdictSource[], at: number) {
  const inputs = sources.flatMap(({ id, spans, points }) => {
    const isWatched = spans.some(({ from, to }) => from <= at && at < to);
    const last = Math.max(...points.filter((one) => one.at <= at).map((one) => one.at));
    const worst = points.filter((one) => one.at === last).toSorted((one, other) => rankOf(other) - rankOf(one));
    const began = Math.min(
      ...spans.filter(({ from, to }) => from <= to).map(({ from }) => from),
      ...points.map((one) => one.at),
    );
    const [verdict] = worst;
    return isWatched && verdict !== undefined ? [{ id, began, verdict }] : [];
  });
  const readable = inputs.filter(({ verdict }) => !isUnreadable(verdict));
  const latest = Math.max(...readable.map(({ began }) => began));
  return readable
    .filter(({ began }) => began === latest)
    .toSorted((one, other) => rankOf(other.verdict) - rankOf(one.verdict))[0]?.verdict;
}

/** By night each property has ten times as many runs. */
const longer = process.env["NIGHTLY"] === "1" ? 10 : 1;

describe("the history of a rule", () => {
  const period = span(0, end + 5);

  it("covers the wall clock exactly once, whatever happened, and calls no unknown time PASS", () => {
    fc.assert(
      fc.property(someSources, (sources) => {
        const found = intervalsOf(timelineOf(sources), period);
        expect(Date.parse(found[0]?.from ?? "")).toBe(period.from);
        expect(Date.parse(found.at(-1)?.to ?? "")).toBe(period.to);
        for (const [index, { from, to, status, reason }] of found.entries()) {
          expect(Date.parse(from)).toBeLessThan(Date.parse(to));
          if (index > 0) expect(from).toBe(found[index - 1]?.to);
          for (let at = Date.parse(from); at < Date.parse(to); at += tick) {
            const known = verdictAt(sources, at);
            expect(status === "UNKNOWN" ? undefined : [status, reason]).toEqual(known && [known.status, known.reason]);
          }
        }
      }),
      fuzzed(200 * longer),
    );
  });

  it("does not depend on the order of input", () => {
    const shuffled = someSources.chain((sources) =>
      fc
        .tuple(
          fc.shuffledSubarray([...sources], { minLength: sources.length }),
          fc.tuple(...sources.map(({ points }) => fc.shuffledSubarray([...points], { minLength: points.length }))),
        )
        .map(
          ([order, points]) =>
            [
              sources,
              order.map((source) => ({
                ...source,
                points: points[sources.indexOf(source)] ?? [],
                spans: source.spans.toReversed(),
              })),
            ] as const,
        ),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const history = (sources: readonly VerdictSource[]) =>
          ruleHistoryOf({ check: "zones", vulnId: null, sources, period });
        expect(history(other)).toEqual(history(one));
      }),
      fuzzed(50 * longer),
    );
  });

  it("is in an exposure exactly while a FAIL was known and nothing has closed it", () => {
    fc.assert(
      fc.property(someSources, (sources) => {
        const timeline = timelineOf(sources);
        const exposures = exposuresOf(timeline, period);
        const failed = intervalsOf(timeline, period).filter(({ status }) => status === "FAIL");
        const seconds = failed.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0) / 1000;
        expect(exposures.reduce((sum, one) => sum + one.least_seconds, 0)).toBe(seconds);
        for (const { opened, closed, least_seconds: least, most_seconds: most } of exposures) {
          expect(least).toBeLessThanOrEqual(most);
          const inside = timeline.filter(
            ({ from }) => Date.parse(opened.known_at) < from && from < Date.parse(closed?.known_at ?? "9999"),
          );
          expect(inside.some(({ point: { status, reason } }) => isHolding({ status, reason }))).toBe(false);
        }
        // A day is UNKNOWN exactly where nothing was known, at no moment.
        const isKnown = timeline.some(({ point: one }) => !isUnreadable(one));
        expect(daysOf(timeline, period).map(({ status }) => status !== "UNKNOWN")).toEqual([isKnown]);
      }),
      fuzzed(100 * longer),
    );
  });
});
