import { addUpMetrics, type ProcessMetrics } from "../observability/prometheus.ts";
import type { MetricsText } from "../observability/metrics.ts";

/** What the processes of one gateway say to each other; plain data, as Node sends it. */
export type ToSupervisor =
  | { readonly kind: "listening"; readonly url: string; readonly metricsUrl: string | null }
  /** A scrape has reached this process. */
  | { readonly kind: "all_metrics_wanted"; readonly id: number }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly object[] };

export type ToWorker =
  | { readonly kind: "stop" }
  /** Without its delay. */
  | { readonly kind: "hurry" }
  | { readonly kind: "metrics_wanted"; readonly id: number }
  /** Of the other processes that answered in time. */
  | { readonly kind: "all_metrics"; readonly id: number; readonly metrics: readonly (readonly object[])[] };

/** One worker's end of the line to the supervisor. */
export interface Line {
  send(message: ToSupervisor): void;
  onMessage(listener: (message: ToWorker) => void): void;
}

/** A scrape that waits for longer is over. */
const patienceMs = 4000;

/** Lets `/metrics` of whichever process is asked answer for all of them. */
export function createJoinedMetrics(line: Line): (own: ProcessMetrics) => MetricsText {
  return (own) => {
    const waiting = new Map<number, (metrics: readonly (readonly object[])[]) => void>();
    let lastId = 0;

    line.onMessage((message) => {
      if (message.kind === "all_metrics") waiting.get(message.id)?.(message.metrics);
      if (message.kind === "metrics_wanted") void answer(message.id);
    });

    return {
      async read() {
        const id = (lastId += 1);
        const { promise, resolve } = Promise.withResolvers<readonly (readonly object[])[]>();
        waiting.set(id, resolve);
        const late = setTimeout(() => resolve([]), patienceMs);
        line.send({ kind: "all_metrics_wanted", id });
        const [mine, others] = await Promise.all([own.readJson(), promise]);
        clearTimeout(late);
        waiting.delete(id);
        return addUpMetrics([mine, ...others]);
      },
    };

    /** Never rejects: who asked does without ours. */
    async function answer(id: number): Promise<void> {
      const metrics = await own.readJson().catch(() => null);
      if (metrics !== null) line.send({ kind: "metrics", id, metrics });
    }
  };
}
