import type { Channel } from "./channel.ts";
import type { StoredNumber } from "./published.ts";

/** All channels are the tenant's. Rejects when the database does not answer. */
export type ReadStored = (tenantId: string, channels: readonly string[]) => Promise<readonly StoredNumber[]>;

/** A channel with its numbers of now: it gets others when all have left, and another member joins. */
type Numbered = Pick<Channel, "name" | "numbers">;

/**
 * Reads the last stored number of each channel. A tenant has one query at a time, and channels that begin
 * during it share the next one: thousands of streams that open again cost a few queries.
 */
export class NumberReader {
  readonly #readStored: ReadStored;
  readonly #now: () => number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, { readonly channels: Numbered[]; readonly learned: Promise<void> }>();

  constructor(readStored: ReadStored, now: () => number) {
    this.#readStored = readStored;
    this.#now = now;
  }

  /** Resolves when the channel has learned its numbers, from a query that began after the call. Rejects as `ReadStored` does. */
  read({ parts: { tenantId }, name, numbers }: Channel): Promise<void> {
    const next = this.#next.get(tenantId);
    if (next !== undefined) {
      next.channels.push({ name, numbers });
      return next.learned;
    }
    const channels = [{ name, numbers }];
    const before = this.#running.get(tenantId) ?? Promise.resolve();
    const learned = before.then(() => this.#learn(tenantId, channels));
    this.#next.set(tenantId, { channels, learned });
    const done = learned
      .catch(() => {})
      .then(() => {
        if (this.#running.get(tenantId) === done) this.#running.delete(tenantId);
      });
    this.#running.set(tenantId, done);
    return learned;
  }

  async #learn(tenantId: string, channels: readonly Numbered[]): Promise<void> {
    this.#next.delete(tenantId);
    const names = channels.map(({ name }) => name);
    const stored = Map.groupBy(await this.#readStored(tenantId, names), ({ channel }) => channel);
    for (const { name, numbers } of channels) numbers.learn(stored.get(name) ?? [], this.#now());
  }
}
