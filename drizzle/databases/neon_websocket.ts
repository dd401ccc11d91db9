import type { Database, DatabaseOptions } from "../database.ts";

/** Neon over WebSocket. On Workers one per request: a connection belongs to the request that opened it. */
export declare function createNeonWebsocketDatabase(url: string, options?: DatabaseOptions): Database;
