import type { MeasuredProcess } from "./measured_process.ts";

/** A server of event streams that is measured, ready to take connections. */
export interface BenchServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Path of the event stream of its channel. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly process: Pick<MeasuredProcess, "cpuSeconds" | "residentBytes">;
  /** Sends so many events to the channel, without waiting in between. */
  publish(burst: number): Promise<void>;
  stop(): Promise<void>;
}

/** The JSON of an event: as large as a progress event, with the nanoseconds since the epoch in it, exact to a microsecond. */
export function makePayload(): string {
  const t = Math.round((performance.timeOrigin + performance.now()) * 1e3) * 1000;
  const payload = { scan_id: "5ca00000-0000-4000-8000-000000000000", checks_done: 12, checks_total: 29, check: "", t };
  return JSON.stringify(payload);
}
