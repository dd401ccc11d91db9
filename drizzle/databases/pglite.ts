import type { Database } from "../database.ts";

export interface PgliteOptions {
  /** Where the data is kept; in memory when null. */
  readonly directory: string | null;
}

/** The embedded default: Postgres in this process, migrated at open. One process at a time may have a directory open. */
export declare function openPgliteDatabase(options: PgliteOptions): Promise<Database>;
