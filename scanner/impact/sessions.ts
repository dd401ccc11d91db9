import type { SignIn } from "./sign_ins.ts";

/** What the log said so far about a session in a browser. */
export interface Session {
  startedMs: number | null;
  lastMs: number;
  /** Kinds of factors beyond the first one that was used in it. */
  readonly factors: Set<string>;
  /** The policies that decided about it; empty: the log did not say. */
  readonly policies: Set<string>;
}

/** A session that nothing was heard of for so long is forgotten: the log of a month fits in memory. */
const forgottenAfterMs = 25 * 3_600_000;

/** The sessions that are going on while the log is read. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #policiesByTransaction = new Map<string, readonly string[]>();
  #sweptMs = 0;

  /** The session of a sign-in as it was before; null where the log names none. */
  see(signIn: SignIn): Session | null {
    const { kind, session: id, transaction, atMs, targets, factor } = signIn;
    this.#sweep(atMs);
    if (kind === "policy") {
      if (transaction !== null) this.#policiesByTransaction.set(transaction, targets);
      if (id === null) return null;
    }
    if (id === null) return null;
    const session = this.#byId.get(id) ?? { startedMs: null, lastMs: atMs, factors: new Set(), policies: new Set() };
    this.#byId.set(id, session);
    if (kind === "session") session.startedMs = atMs;
    if (kind === "factor" && factor !== null) session.factors.add(factor);
    const policies = kind === "policy" ? targets : this.#policiesByTransaction.get(transaction ?? "");
    for (const policy of policies ?? []) session.policies.add(policy);
    return session;
  }

  #sweep(atMs: number): void {
    if (atMs - this.#sweptMs < 3_600_000) return;
    this.#sweptMs = atMs;
    this.#policiesByTransaction.clear();
    for (const [id, { lastMs }] of this.#byId) if (atMs - lastMs > forgottenAfterMs) this.#byId.delete(id);
  }
}
