import { Hono } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { openTestPglite } from "./pglite.ts";
import { runSql, watchDatabase } from "./watched_database.ts";
import { AppError } from "../../shared/app_error.ts";
import type { Broker } from "../../shared/broker.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { eventStreamRoute, type EventStreamDependencies } from "../../gateway/streaming/event_stream.ts";
import type { EventStream } from "../../gateway/streaming/event_stream_definition.ts";
import { ChannelManager } from "../../gateway/streaming/channel_manager.ts";
import { createLocalStreams, type LocalStreams } from "../../gateway/streaming/local_streams.ts";
import type { Principal } from "../../gateway/auth/principal.ts";
import { HttpRefusal, problemResponse } from "../../gateway/http/problem.ts";
import { bounds, createAuthority, otherTenantId, tenantId } from "./stream_server.ts";

/** Members of the tenant. */
export const ada: Principal = { kind: "user", tenantId, id: "ada", expiresAtMs: null, onlyStream: null };
/** A member of the other tenant. */
export const linus: Principal = { ...ada, tenantId: otherTenantId, id: "linus" };
export const stranger: Principal = { ...ada, id: "stranger" };

/** Postgres in memory with two tenants and their members, and whatever else the statements make. */
export async function openTestDatabase(...statements: readonly string[]): Promise<Database> {
  const database = await openTestPglite();
  for (const sql of [
    `insert into tenants (id, name) values ('${tenantId}', 'Acme'), ('${otherTenantId}', 'Globex')`,
    `insert into users (sub) values ('ada'), ('grace'), ('linus')`,
    `insert into memberships (tenant_id, user_id) values ('${tenantId}', 'ada'), ('${tenantId}', 'grace'), ('${otherTenantId}', 'linus')`,
    ...statements,
  ]) {
    // As the owner: no role is taken on.
    await runSql(database, sql);
  }
  return database;
}

export interface RouteApp extends AsyncDisposable {
  readonly app: Hono;
  readonly broker: Broker;
  readonly streams: LocalStreams;
  /** Transactions that reached the database. */
  readonly statements: () => number;
  get(path: string, principal: Principal | null, init?: RequestInit): Promise<Response>;
}

/** An app with one event stream under `/api/v1/things`, whose requests name their principal. */
export function createRouteApp(database: Database, stream: EventStream): RouteApp {
  const broker = createMemoryBroker();
  const streams = createLocalStreams({
    subscriber: broker,
    authority: createAuthority(),
    bounds,
    lingerMs: 0,
    closeGraceMs: 10,
  });
  const principals = new Map<string, Principal>();
  let statements = 0;
  const watched = watchDatabase(database, (run) => {
    statements += 1;
    return run();
  });
  const dependencies: EventStreamDependencies = {
    authenticator: {
      async authenticateStream(request) {
        const principal = principals.get(request.headers.get("authorization") ?? "");
        if (principal === undefined) throw new AppError("not_authenticated", "No credentials");
        return principal;
      },
    },
    streams: new ChannelManager(streams, watched),
  };
  const app = new Hono<{ Variables: { dependencies: EventStreamDependencies } }>();
  app.onError((error) => problemResponse(error));
  app.use(async (c, next) => {
    c.set("dependencies", dependencies);
    await next();
  });
  app.route("/api/v1/things", eventStreamRoute(stream));
  app.notFound(() => problemResponse(new HttpRefusal("method_not_allowed", "Not a method of this path")));
  return {
    app: app as unknown as Hono, // Only `request` is of interest to tests.
    broker,
    streams,
    statements: () => statements,
    async get(path, principal, init) {
      const headers = new Headers(init?.headers);
      if (principal !== null) {
        const name = JSON.stringify(principal);
        principals.set(name, principal);
        headers.set("authorization", name);
      }
      return app.request(`http://gateway.test/api/v1/things${path}`, { ...init, headers });
    },
    async [Symbol.asyncDispose]() {
      await streams.drain({ overMs: 0 });
    },
  };
}
