import { Hono } from "hono";
import type { Database } from "../../drizzle/database.ts";
import { openTestPglite } from "./pglite.ts";
import { runSql, watchDatabase } from "./watched_database.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { eventStreamRoute, type EventStreamDependencies } from "../../gateway/streaming/event_stream.ts";
import type { EventStream } from "../../gateway/streaming/event_stream_definition.ts";
import { ChannelManager } from "../../gateway/streaming/channel_manager.ts";
import type { StreamBounds } from "../../gateway/config.ts";
import type { Principal } from "../../gateway/auth/principal.ts";
import { problemResponse } from "../../gateway/http/problem.ts";
import { bounds, tenantId, user } from "./stream_server.ts";

/** The member of the tenant. */
export const ada = user;
export const stranger: Principal = { ...ada, id: "stranger" };

/** Postgres in memory with a tenant and its member. */
export async function openTestDatabase(): Promise<Database> {
  const database = await openTestPglite();
  // As the owner: no role is taken on.
  await runSql(
    database,
    `insert into tenants (id, name) values ('${tenantId}', 'Acme')`,
    `insert into memberships (tenant_id, user_id) values ('${tenantId}', 'ada')`,
  );
  return database;
}

/** An app with one event stream under `/things`, whose requests name their principal. */
export function createRouteApp(database: Database, stream: EventStream, given: Partial<StreamBounds> = {}) {
  const broker = createMemoryBroker();
  let statements = 0;
  const watched = watchDatabase(database, (run) => {
    statements += 1;
    return run();
  });
  const manager = new ChannelManager({
    subscriber: broker,
    database: watched,
    eventStreams: [["/things", stream]],
    bounds: { ...bounds, ...given },
    lingerMs: 0,
    closeGraceMs: 10,
  });
  return {
    broker,
    streams: manager.streams,
    /** Transactions that reached the database. */
    statements: () => statements,
    async get(path: string, principal: Principal, init?: RequestInit): Promise<Response> {
      const authenticator = { authenticateStream: async () => principal };
      const app = new Hono<{ Variables: { dependencies: EventStreamDependencies } }>();
      app.onError((error) => problemResponse(error));
      app.use(async (c, next) => {
        c.set("dependencies", { authenticator, streams: manager });
        await next();
      });
      app.route("/api/v1", eventStreamRoute("/things", stream));
      return app.request(`http://gateway.test/api/v1/things${path}`, init);
    },
    async [Symbol.asyncDispose]() {
      await manager.streams.drain({ overMs: 0 });
    },
  };
}
