import type { PgTable } from "drizzle-orm/pg-core";

/**
 * The name of an index that says which rows are due, of a table with a `tenant_id`: its first column is the time from which on, and its
 * `where` has the rows that count.
 */
export type Due = `${string}_due`;

/** The tables of one feature, and the folder that drizzle-kit writes their migrations to. */
export interface FeatureTables {
  /** Names the journal of its migrations. */
  readonly prefix: string;
  /** Each with `tenantPolicy`. */
  readonly tables?: readonly PgTable[];
  readonly tasks?: readonly { readonly due: Due }[];
  /** A function, because a Worker has no `import.meta.url`: `() => new URL("./migrations", import.meta.url)`. */
  readonly migrations?: () => URL;
}
