import type { FoundApiKey } from "../../drizzle/across_tenants.ts";
import { createSteadyClock } from "../../shared/steady_clock.ts";

/** Finds the key with a SHA-256. */
export type FindKey = (hash: string) => Promise<FoundApiKey | null>;

/** As often as the database notes that a key is used. */
const rememberedMs = 60_000;
const maxKeys = 10_000;

/**
 * The keys that were found within a minute: their tenant, name, scopes and end never change. A key may have been revoked since, so
 * this is only for callers who check its authority in their own transaction. It saves one of two transactions when
 * thousands of streams open again.
 */
export class FoundKeys {
  readonly #keys = new Map<string, { readonly found: FoundApiKey; readonly untilMs: number }>();
  readonly #now = createSteadyClock();

  async find(hash: string, find: FindKey): Promise<FoundApiKey | null> {
    const known = this.#keys.get(hash);
    if (known !== undefined && this.#now() < known.untilMs) return known.found;
    const found = await find(hash);
    this.#keys.delete(hash);
    if (found?.isValid !== true) return found;
    this.#keys.set(hash, { found, untilMs: this.#now() + rememberedMs });
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > maxKeys && oldest !== undefined) this.#keys.delete(oldest);
    return found;
  }
}
