import type { Database, DatabaseOptions } from "../database.ts";

/** Neon over HTTP: one request per transaction and no connection to keep, for Workers. */
export declare function createNeonHttpDatabase(url: string, options?: DatabaseOptions): Database;
