import type { PgTable } from "drizzle-orm/pg-core";

/** The tables of one feature, and the folder that drizzle-kit writes their migrations to. */
export interface FeatureTables {
  /** Names the journal of its migrations. */
  readonly prefix: string;
  /** Each with `tenantPolicy`. */
  readonly tables?: readonly PgTable[];
  /** A function, because a Worker has no `import.meta.url`: `() => new URL("./migrations", import.meta.url)`. */
  readonly migrations?: () => URL;
}
