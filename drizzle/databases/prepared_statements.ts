import { createHash } from "node:crypto";

/** One node-postgres connection; only its identity counts. */
type Connection = object;

/** Longer texts are lists of rows, each length a separate statement: PostgreSQL would keep them all. */
const maxTextChars = 4096;
/** Kept on one connection at most; later ones are parsed each time. */
const maxKept = 100;

/**
 * Which statements which connection has parsed under a name, so that PostgreSQL need not parse and plan them again.
 *
 * A name is the hash of its text: even if a connection pooler shares names between its clients, a name never stands for another
 * statement. Behind one that does not keep names, statements stay unnamed after the first loss.
 */
export class PreparedStatements {
  #kept = new WeakMap<Connection, Set<string>>();
  readonly #names = new Map<string, string>();
  #isGivenUp = false;

  /** The names that this connection keeps; a caller that parsed another one adds it. */
  keptBy(connection: Connection): Set<string> {
    let kept = this.#kept.get(connection);
    if (kept === undefined) {
      kept = new Set();
      this.#kept.set(connection, kept);
    }
    return kept;
  }

  /** Empty, the unnamed statement, for what is not worth keeping. */
  nameOf(text: string): string {
    if (this.#isGivenUp || text.length > maxTextChars) return "";
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= maxKept) return "";
    const name = `scanstream_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Takes note of a refused statement; true when it was refused for its name, before anything ran: then it is
   * to be sent again without one.
   */
  isLost(sqlState: string): boolean {
    // The tables changed under the plan: every connection parses again.
    if (sqlState === planOutdated) this.#kept = new WeakMap();
    else if (!poolerStates.has(sqlState)) return false;
    else this.#isGivenUp = true;
    return true;
  }
}

/** "Cached plan must not change result type": after a migration. */
const planOutdated = "0A000";

/** The name is missing, or already there, contrary to what this connection recorded: a pooler has swapped the server connection. */
const poolerStates: ReadonlySet<string> = new Set(["26000", "42P05"]);
