import type { Database } from "../drizzle/database.ts";
import type { Broker } from "../shared/broker.ts";
import type { IssuerOptions, StreamBounds } from "./config.ts";
import type { Feature } from "./features/features.ts";
import type { Log } from "./observability/log.ts";

export interface GatewayOptions {
  readonly features: readonly Feature[];
  readonly database: DatabaseAdapter;
  readonly broker: BrokerAdapter;
  /** Whose JWTs are accepted. Default: nobody's, only API keys. */
  readonly auth?: IssuerOptions;
  /** 32 random bytes or more, the same for every process. Default: one that is kept with an embedded database. */
  readonly streamTokenSecret?: string;
  /** Exact origins, as browsers send them. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** How many proxies before this gateway append to `X-Forwarded-For`. Default 0: nobody is believed. */
  readonly trustedProxyHops?: number | null;
  readonly bounds?: Partial<StreamBounds>;
  /** Default: JSON lines on the console. */
  readonly log?: Log;
}

/** The gateway of one process. `serve` gives it a port; `fetch` alone is enough for tests, and behind another server. */
export interface Gateway {
  readonly fetch: (request: Request, env?: object) => Promise<Response>;
  /** Does every task of the features once; they are also repeated by themselves. */
  readonly scheduled: () => Promise<void>;
  /** Closes every stream, and releases database and broker. Idempotent. */
  readonly close: () => Promise<void>;
}

/** A way to Postgres; `scanstream/gateway/postgres`, `/pglite` and `/neon` make one. */
export interface DatabaseAdapter {
  /** Rejects with `UsageError` when the database is not there, or lacks a table. The caller closes it. */
  open(context: OpenContext): Database | Promise<Database>;
  /** Migrates as the owner of the tables. Absent: opening migrates, or another adapter has to. */
  migrate?(features: readonly Feature[]): Promise<void>;
  /** A database of this process alone: it keeps a secret next to its data, and the first API key is shown at the start. */
  readonly embedded?: { streamTokenSecret(): Promise<string> };
}

export interface OpenContext {
  readonly features: readonly Feature[];
  /** Stops waiting for a database that is unavailable. */
  readonly signal?: AbortSignal | undefined;
}

/** A way to a broker; `scanstream/gateway/memory`, `/redis` and `/upstash` make one. */
export interface BrokerAdapter {
  /** Rejects with `UsageError` for what can never be reached. The caller closes it. */
  open(): Broker | Promise<Broker>;
}

/** A database that a Worker reaches too; `scanstream/gateway/neon` makes one. */
export interface WorkerDatabaseAdapter extends DatabaseAdapter {
  /** The Durable Object's, which keeps its connections. */
  open(): Database;
  /** Opens the database of requests; each request opens its connections. */
  openForRequests(): Database;
}

/** A broker that a Worker reaches too; `scanstream/gateway/upstash` makes one. */
export interface WorkerBrokerAdapter {
  /** Opens the broker of one request, or of a Durable Object. */
  open(): Broker;
}
