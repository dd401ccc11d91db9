import { Agent, fetch } from "undici";
import type { GatewayProcess } from "./gateway_process.ts";
import type { ProducedChannel } from "./numbered_traffic.ts";
import type { Sample } from "./samples.ts";
import type { Subscriber } from "./subscriber.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the parts of a soak share: where they are, and what they found. */
export interface Work {
  readonly surroundings: Surroundings;
  /** An empty one, which the gateway runs in. */
  readonly folder: string;
  /** Each has as many streams as it likes. */
  readonly tenants: readonly SoakTenant[];
  /** A tenant with more clients than it may have streams. */
  readonly crowded: SoakTenant;
  readonly maxStreamsPerTenant: number;
  /** Of all tenants together, which each may fill its part of. */
  readonly maxStreams: number;
  /** Where much is sent, so that who does not read has something not to read. */
  readonly torrent: SoakScan;
  /** The same in both lives. */
  readonly url: string;
  life: Life;
  /** False once nothing more is to be begun. */
  isOn: boolean;
  readonly counts: Counts;
  readonly faults: Record<string, number>;
  readonly problems: string[];
}

/** One process of the gateway, from its start to its exit. */
export interface Life {
  readonly gateway: Promise<GatewayProcess>;
  readonly startedAtMs: number;
  /** False until it says that it listens. */
  isUp: boolean;
  /** When it got the SIGTERM: from then on streams end with `drain`, and who comes is refused or finds nobody. */
  stoppingAtMs: number;
  /** The streams that clients have open, and whose they are. */
  readonly open: Map<Subscriber, string>;
  readonly samples: Sample[];
}

export interface Counts {
  streams: number;
  events: number;
  refused: number;
  lost: number;
  drained: number;
  expired: number;
  revoked: number;
  overLimit: number;
  slow: number;
  trespasses: number;
  rotations: number;
  scans: number;
  longestRevocationMs: number;
}

export interface SoakTenant {
  readonly id: string;
  readonly apiKey: string;
  readonly scans: readonly SoakScan[];
}

export interface SoakScan {
  readonly id: string;
  readonly tenant: { readonly id: string; readonly apiKey: string };
  readonly channel: ProducedChannel;
}

export function noCounts(): Counts {
  return {
    streams: 0,
    events: 0,
    refused: 0,
    lost: 0,
    drained: 0,
    expired: 0,
    revoked: 0,
    overLimit: 0,
    slow: 0,
    trespasses: 0,
    rotations: 0,
    scans: 0,
    longestRevocationMs: 0,
  };
}

/** At most a handful of each soak's problems help; a broken gateway would make millions. */
const maxProblems = 50;

export function complain(work: Work, problem: string): void {
  if (work.problems.length < maxProblems) work.problems.push(problem);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function pick<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from");
  return item;
}

export function streamPathOf({ id }: SoakScan): string {
  return `/api/v1/scans/${id}/event-stream`;
}

/** An idle connection is closed soon, so that none of ours is counted as the gateway's when every client has left. */
const agent = new Agent({ keepAliveTimeout: 500, keepAliveMaxTimeout: 500 });

/** The answer's status, 0 when there was none, and its JSON; anything but an answer counts while the gateway stops only. */
export async function ask(
  work: Work,
  path: string,
  authorization: string,
  json?: unknown,
  method: "POST" | "PATCH" = "POST",
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { life } = work;
  const { isUp } = life;
  const headers = { authorization, ...(json === undefined ? {} : { "content-type": "application/json" }) };
  const init = json === undefined ? {} : { method, body: JSON.stringify(json) };
  try {
    const response = await fetch(new URL(path, work.url), { ...init, headers, dispatcher: agent });
    return { status: response.status, body: await response.json() };
  } catch (error) {
    if (isUp && Date.now() < life.stoppingAtMs) complain(work, `a request was not answered: ${String(error)}`);
    return { status: 0, body: null };
  }
}
