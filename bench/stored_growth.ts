import { growing, openGrowthStage, type GrowthStage } from "../test/support/growth/stage.ts";
import type { GrowthRequest } from "../test/support/growth/requests.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { quantile } from "./statistics.ts";

/** For one request, at each size of what grows. */
export interface RequestGrowth {
  /** Pages of 8 KiB that PostgreSQL read for it. */
  readonly buffers: number[];
  readonly p50Ms: number[];
  readonly mostMs: number[];
}

export interface StoredGrowth {
  readonly sizes: readonly number[];
  /** The ones that read or write what grows, and of the others the one whose pages grew most. */
  readonly requests: Readonly<Record<string, RequestGrowth>>;
  /** How many were made. */
  readonly requestCount: number;
}

const sizes: Readonly<Record<string, readonly number[]>> = {
  "scans of a tenant, ten findings each": [1000, 10_000, 100_000, 1_000_000],
  "scans of a tenant that run": [100, 1000, 10_000],
  "findings of one scan": [1000, 10_000, 100_000],
  tenants: [10, 100, 1000, 10_000],
  "members of a tenant": [100, 1000, 10_000, 100_000],
  "monitors of a tenant, twenty changes each": [100, 1000, 10_000],
  "changes of one monitor": [1000, 10_000, 100_000],
  "API keys of a tenant": [100, 10_000],
  "audit trail of a tenant": [1000, 10_000, 100_000],
  "deliveries of a webhook": [1000, 10_000, 100_000],
  "deliveries that are due": [1000, 10_000],
  "history of an organization": [1000, 10_000, 100_000],
  "decisions of a tenant": [1000, 10_000],
};

type Say = (line: string) => void;

const names = Object.keys(growing);
/** The ones that take longest to fill. */
const ofScans = names.filter((name) => name.includes("scan"));

export const storedBenches: Readonly<Record<string, (say: Say, rounds: number) => Promise<unknown>>> = {
  stored_scans: (say, rounds) => benchStored(ofScans, say, rounds),
  stored_others: (say, rounds) =>
    benchStored(
      names.filter((name) => !ofScans.includes(name)),
      say,
      rounds,
    ),
};

/** What every request costs, as one thing that is stored grows and all others stay. `BENCH_MOST_STORED`: the largest size. */
async function benchStored(series: readonly string[], say: Say, rounds: number): Promise<Record<string, StoredGrowth>> {
  const most = Number(process.env["BENCH_MOST_STORED"] ?? Infinity);
  const postgres = await startPostgres();
  const figures: Record<string, StoredGrowth> = {};
  try {
    for (const name of series) {
      const stage = await openGrowthStage(postgres.adminUrl);
      try {
        figures[name] = await measure(stage, name, {
          sizes: (sizes[name] ?? []).filter((size) => size <= most),
          rounds,
          say,
        });
      } finally {
        await stage.stop();
      }
    }
  } finally {
    await postgres.stop();
  }
  return figures;
}

interface MeasureOptions {
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly say: Say;
}

async function measure(
  stage: GrowthStage,
  name: string,
  { sizes: steps, rounds, say }: MeasureOptions,
): Promise<StoredGrowth> {
  const all = new Map<string, RequestGrowth>();
  for (const size of steps) {
    const startedMs = performance.now();
    await stage.grow(name, size);
    const filledMs = performance.now();
    for (const request of await stage.requests()) {
      const growth = all.get(request.name) ?? { buffers: [], p50Ms: [], mostMs: [] };
      all.set(request.name, growth);
      const times = await timesOf(request, rounds);
      growth.p50Ms.push(quantile(times, 0.5));
      growth.mostMs.push(quantile(times, 1));
      growth.buffers.push((await stage.explain(request)).reduce((sum, { buffers }) => sum + buffers, 0));
    }
    say(
      `${name}, ${size}: filled in ${seconds(filledMs - startedMs)}, asked in ${seconds(performance.now() - filledMs)}`,
    );
  }
  const concerned = new Set(growing[name]?.concerns);
  const [worst] = [...all]
    .filter(([request]) => !concerned.has(request))
    .toSorted(([, a], [, b]) => added(b) - added(a));
  const kept = [...all].filter(([request]) => concerned.has(request) || request === worst?.[0]);
  for (const [request, { buffers, p50Ms, mostMs }] of kept) {
    say(`  ${request}: ${buffers.join(" → ")} pages, p50 ${p50Ms.join(" → ")} ms, at most ${mostMs.join(" → ")} ms`);
  }
  return { sizes: steps, requests: Object.fromEntries(kept), requestCount: all.size };
}

const requestsInRound = 20;

async function timesOf(request: GrowthRequest, rounds: number): Promise<readonly number[]> {
  const times: number[] = [];
  // The first few are planned anew, and find nothing in memory.
  for (let count = -5; count < rounds * requestsInRound; count += 1) {
    await request.prepare?.();
    const startedMs = performance.now();
    await request.run();
    if (count >= 0) times.push(performance.now() - startedMs);
  }
  return times;
}

function added({ buffers }: RequestGrowth): number {
  return (buffers.at(-1) ?? 0) - (buffers[0] ?? 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
