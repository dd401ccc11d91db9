import { gatewayProducer, type StoredNumber } from "./published.ts";

/** A channel has one producer, or a few. */
const maxProducers = 16;
/** Events that may still arrive. */
const maxMissing = 1000;
/** A stored event arrives within this time, or not at all. */
const deliveryGraceMs = 5000;

/** The numbers of the stored events that a channel has received since its first member joined: what is repeated, missing or behind. */
export class DeliveryNumbers {
  /** Settles when it is known how far the events were stored. Null: nobody has asked. */
  learned: Promise<void> | null = null;
  readonly #sinceMs = performance.now();
  /** The last number of each producer that numbers its events, least recent first. */
  readonly #last = new Map<string, number>();
  /** There were more producers than are remembered. */
  #hasForgotten = false;
  /** Events before those, which did not arrive: since when, oldest first. */
  readonly #missing = new Map<string, number>();
  /** Events that arrived before it was known how far they were stored. Null: it is known. */
  #early: Set<string> | null = new Set();

  /** When it was first seen that events are missing which may still arrive; null when none are. */
  get holeSinceMs(): number | null {
    const [sinceMs = null] = this.#missing.values();
    return sinceMs;
  }

  /**
   * True for an event that was already received: its producer got no reply and retried. False for one that arrives after a later
   * event of its producer: two processes of the gateway may hand over what they stored in another order.
   */
  isRepeated(deliveryId: string, nowMs: number): boolean {
    if (this.#early !== null) return this.#early.size === this.#early.add(deliveryId).size;
    const dot = deliveryId.lastIndexOf(".");
    const producer = deliveryId.slice(0, dot);
    const n = Number(deliveryId.slice(dot + 1));
    const last = this.#last.get(producer) ?? n - 1;
    if (n <= last) return !this.#missing.delete(`${producer}.${n}`);
    for (let lacking = Math.max(last + 1, n - maxMissing); lacking < n; lacking += 1)
      this.#missing.set(`${producer}.${lacking}`, nowMs);
    for (const oldest of this.#missing.keys()) if (this.#missing.size > maxMissing) this.#missing.delete(oldest);
    this.#setLast(producer, n);
    return false;
  }

  /** True for a repeated number of the gateway, which sends none again: a database that lost rows gives its numbers a second time. */
  hasGoneBack(deliveryId: string): boolean {
    return deliveryId.startsWith(`${gatewayProducer}.`) && performance.now() - this.#sinceMs > deliveryGraceMs;
  }

  /** Takes how far the events were stored since the first member joined, the latest first: everything after that arrives, or is missing. */
  learn(stored: readonly StoredNumber[], nowMs: number): void {
    for (const { producer, lastN } of stored.toReversed()) this.#setLast(producer, lastN);
    const early = this.#early ?? [];
    this.#early = null;
    for (const deliveryId of early) this.isRepeated(deliveryId, nowMs);
  }

  /** True when an event that was stored some seconds ago has not arrived here, although members had joined by then. */
  isBehind({ producer, lastN, ageMs, lostAgeMs }: StoredNumber): boolean {
    if (this.#early !== null) return false;
    const last = this.#last.get(producer);
    // Below 0 where the database's clock was set back, or another server has taken over.
    const isLate = Math.abs(ageMs) > deliveryGraceMs;
    // A broker that was late to say so may have taken the event all the same.
    if (last !== undefined) return isLate && last < lastN;
    const joinedForMs = performance.now() - this.#sinceMs;
    // Nobody knows which events of a forgotten producer have arrived.
    if (this.#hasForgotten) return lostAgeMs !== null && lostAgeMs < joinedForMs;
    return isLate && ageMs < joinedForMs;
  }

  #setLast(producer: string, n: number): void {
    this.#last.delete(producer);
    this.#last.set(producer, n);
    const [oldest] = this.#last.size > maxProducers ? this.#last.keys() : [];
    if (oldest !== undefined) this.#hasForgotten = this.#last.delete(oldest);
  }
}

/** All channels are the tenant's. Rejects when the database does not answer. */
export type ReadStored = (tenantId: string, channels: readonly string[]) => Promise<readonly StoredNumber[]>;

/** A channel with its numbers of now: it gets others when all have left, and another member joins. */
interface Numbered {
  readonly name: string;
  readonly numbers: DeliveryNumbers;
}

/**
 * Makes a function that reads the last stored number of a channel, and resolves when the channel has learned it, from a query that
 * began after the call. It rejects as `ReadStored` does. A tenant has one query at a time, and channels that begin during it share
 * the next one: thousands of streams that open again cost a few queries.
 */
export function createNumberReader(readStored: ReadStored, now: () => number) {
  const running = new Map<string, Promise<void>>();
  const next = new Map<string, { readonly channels: Numbered[]; readonly learned: Promise<void> }>();

  return (tenantId: string, { name, numbers }: Numbered): Promise<void> => {
    const { channels, learned } = next.get(tenantId) ?? begin(tenantId);
    channels.push({ name, numbers });
    return learned;
  };

  function begin(tenantId: string) {
    const channels: Numbered[] = [];
    const before = running.get(tenantId) ?? Promise.resolve();
    const learned = before.then(() => learn(tenantId, channels));
    const begun = { channels, learned };
    next.set(tenantId, begun);
    const done = learned
      .catch(() => {})
      .then(() => {
        if (running.get(tenantId) === done) running.delete(tenantId);
      });
    running.set(tenantId, done);
    return begun;
  }

  async function learn(tenantId: string, channels: readonly Numbered[]): Promise<void> {
    next.delete(tenantId);
    const names = channels.map(({ name }) => name);
    const stored = Map.groupBy(await readStored(tenantId, names), ({ channel }) => channel);
    for (const { name, numbers } of channels) numbers.learn(stored.get(name) ?? [], now());
  }
}
