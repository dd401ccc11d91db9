import type { MeasuredProcess } from "./measured_process.ts";

/** A server of event streams that is measured, ready to take connections. */
export interface BenchServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The streams' paths: `channels` different ones in turn, or all the same one. */
  path(channels: number): string;
  readonly headers: readonly string[];
  readonly process: Pick<MeasuredProcess, "cpuSeconds" | "residentBytes">;
  /** Sends events to the first `channels` channels, each of them `burst`, without waiting in between. */
  publish(options: PublishOptions): Promise<void>;
  stop(): Promise<void>;
}

export interface PublishOptions {
  readonly channels: number;
  readonly burst: number;
  /** The first of a run, for which the streams have just been opened. */
  readonly isFirst: boolean;
  /** For one event's JSON, about. */
  readonly payloadBytes: number;
}

/** The event of every bench: as large as a progress event, with the time in it. */
export function makePayload(payloadBytes: number): string {
  const payload = {
    scan_id: "5ca00000-0000-4000-8000-000000000000",
    checks_done: 12,
    checks_total: 29,
    check: "",
    t: nowNs(),
  };
  const filled = { ...payload, check: "x".repeat(Math.max(0, payloadBytes - JSON.stringify(payload).length)) };
  return JSON.stringify(filled);
}

/** Since the epoch, exact to a microsecond. */
export function nowNs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1e3) * 1000;
}
