import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { pause } from "../../shared/abortable.ts";
import { withTimeout } from "../../shared/with_timeout.ts";

export interface HoldersOptions {
  readonly binary: string;
  readonly streams: number;
  readonly processes: number;
  readonly scans: number;
  /** One token a line; the streams use them in turn. */
  readonly tokensFile: string;
}

/** Since the last `reset`, over all holders. Times in histograms are in µs, in buckets of `bucketMicroseconds`. */
export interface HolderReport {
  readonly open: number;
  readonly opens: number;
  readonly connects: number;
  readonly events: number;
  /** Events that streams did not get because they were closed, or being closed, when they were published. */
  readonly gaps: number;
  /** Events that a stream had already received over the connection before. */
  readonly repeated: number;
  /** For any promise, since the start; `example` is the first. */
  readonly violations: number;
  readonly garbage: number;
  readonly heartbeats: number;
  /** Open streams that had none since. */
  readonly withoutHeartbeat: number;
  /** The longest that an open stream received nothing. */
  readonly maxSilenceMs: number;
  readonly refused503: number;
  readonly refusedOther: number;
  readonly unreachable: number;
  /** Closed without a reason, or reset. */
  readonly cutByServer: number;
  readonly timedOut: number;
  readonly drained: number;
  readonly lost: number;
  readonly closedOther: number;
  readonly cpuSeconds: number;
  readonly example: string;
  /** From publishing to receipt. */
  readonly toAll: readonly number[];
  readonly toSome: readonly number[];
  /** From one connection's end to the next one's head. */
  readonly away: readonly number[];
}

export interface StreamHolders {
  setPorts(ports: readonly number[]): void;
  /** This many streams are to be open, at most `atOnce` being opened at a time. */
  open(streams: number, atOnce: number): void;
  cut(): void;
  reset(): void;
  report(): Promise<HolderReport>;
  /** Resolves with the time, in ns since the epoch, when the last stream was open; with null when that takes too long. */
  untilAllOpen(timeoutMs: number): Promise<number | null>;
  /** When the last stream had this event of scan 0, in ns since the epoch. All streams have to be open. */
  untilAllHave(number: number, timeoutMs: number): Promise<number>;
  /** Streams that lack the last event of one of their scans; all of them were published before the time. */
  lacking(last: { readonly shared: number; readonly own: number; readonly beforeNs: number }): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the processes that hold the streams (`stream_holder.c`), as many streams each. */
export function startStreamHolders(options: HoldersOptions): StreamHolders {
  const { streams, processes } = options;
  const shareOf = (index: number, all: number) => {
    const first = Math.round((all * index) / processes);
    return { index, first, count: Math.round((all * (index + 1)) / processes) - first };
  };
  const holders = Array.from({ length: processes }, (_, index) => startHolder(options, shareOf(index, streams)));
  let wanted = 0;

  return {
    setPorts: (ports) => tell(`ports ${ports.join(" ")}`),
    open(count, atOnce) {
      wanted = count;
      for (const [index, holder] of holders.entries()) {
        holder.tell(`open ${shareOf(index, count).count} ${Math.ceil(atOnce / processes)}`);
      }
    },
    cut: () => tell("cut"),
    reset: () => tell("reset"),
    report,
    async untilAllOpen(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const { open } = await report();
        if (open === wanted) return Math.max(...holders.map((holder) => holder.openNs()));
        if (performance.now() > deadline) return null;
        await pause(200, []);
      }
    },
    async untilAllHave(number, timeoutMs) {
      return Math.max(...(await withTimeout(Promise.all(holders.map((each) => each.allHave(number))), timeoutMs)));
    },
    async lacking({ shared, own, beforeNs }) {
      const counts = await Promise.all(
        holders.map((holder) => holder.ask(`final ${shared} ${own} ${beforeNs}`, "FINAL")),
      );
      return counts.reduce((sum, count) => sum + Number(count), 0);
    },
    async stop() {
      await Promise.all(holders.map((holder) => holder.stop()));
    },
  };

  function tell(command: string): void {
    for (const holder of holders) holder.tell(command);
  }

  async function report(): Promise<HolderReport> {
    const reports = await Promise.all(holders.map((holder) => holder.ask("report", "REPORT")));
    return reports.map((json) => JSON.parse(json) as HolderReport).reduce(addReports);
  }
}

interface Share {
  readonly index: number;
  readonly first: number;
  readonly count: number;
}

function startHolder({ binary, scans, tokensFile }: HoldersOptions, { index, first, count }: Share) {
  // Each has separate source addresses, so that no client runs out of ports.
  const args = [first, count, scans, `127.0.${index + 1}.1`, tokensFile].map(String);
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(binary, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const answers = new Map<string, PromiseWithResolvers<string>>();
  const reached = new Map<number, PromiseWithResolvers<number>>();
  let openNs = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [word = "", rest = ""] = line.split(/ (.*)/s);
    if (word === "OPEN") openNs = Number(rest);
    else if (word === "ALL") {
      const [number, ns] = rest.split(" ").map(Number);
      whenReached(number ?? 0).resolve(ns ?? 0);
    } else {
      answers.get(word)?.resolve(rest);
      answers.delete(word);
    }
  });
  child.once("exit", () => {
    for (const answer of answers.values()) answer.reject(new Error("A stream holder ended"));
  });
  child.stdin.on("error", () => undefined);

  function whenReached(number: number): PromiseWithResolvers<number> {
    const waiting = reached.get(number) ?? Promise.withResolvers<number>();
    reached.set(number, waiting);
    return waiting;
  }

  return {
    openNs: () => openNs,
    tell: (command: string) => void child.stdin.write(`${command}\n`),
    async ask(command: string, word: string): Promise<string> {
      const answer = Promise.withResolvers<string>();
      answers.set(word, answer);
      child.stdin.write(`${command}\n`);
      return answer.promise;
    },
    allHave: (number: number) => whenReached(number).promise,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

function addReports(one: HolderReport, other: HolderReport): HolderReport {
  const keys = Object.keys(one) as (keyof HolderReport)[];
  const sums = keys.map((key) => [key, addValues(key, one[key], other[key])]);
  return Object.fromEntries(sums);
}

type Value = HolderReport[keyof HolderReport];

function addValues(key: string, one: Value, other: Value): Value {
  if (typeof one === "number" && typeof other === "number")
    return key === "maxSilenceMs" ? Math.max(one, other) : one + other;
  if (typeof one === "object" && typeof other === "object")
    return one.map((value, index) => value + (other[index] ?? 0));
  return one === "" ? other : one;
}

/** In ms, exact to three per cent. */
export interface Spread {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** For a histogram of a report. */
export function spreadOf(histogram: readonly number[]): Spread {
  const count = histogram.reduce((sum, value) => sum + value, 0);
  const at = (rank: number) => {
    let seen = 0;
    for (const [bucket, inBucket] of histogram.entries()) {
      seen += inBucket;
      if (seen > rank) return bucketMicroseconds(bucket + 1) / 1000;
    }
    return 0;
  };
  return {
    count,
    p50Ms: at(Math.floor(count / 2)),
    p99Ms: at(Math.floor(count * 0.99)),
    maxMs: at(Math.max(0, count - 1)),
  };
}

const perOctave = 32;

/** Where the bucket begins, as `stream_holder.c` counts. */
function bucketMicroseconds(bucket: number): number {
  return (perOctave + (bucket % perOctave)) * 2 ** Math.floor(bucket / perOctave) - perOctave;
}
