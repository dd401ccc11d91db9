import type { Database, DatabaseOptions } from "../database.ts";

/** Any Postgres, over TCP, on Node and Deno. Connects when first used. */
export declare function createPgDatabase(url: string, options?: DatabaseOptions): Database;
