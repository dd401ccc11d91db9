import { expect, test } from "vitest";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { scans } from "../../../drizzle/schema.ts";
import { everyTenant, write } from "../../../drizzle/transactions.ts";
import { defineEventStream } from "../../../gateway/streaming/event_stream_definition.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { openOnPostgres } from "../../drizzle/open_databases.ts";
import { seedTenant } from "../../drizzle/seed.ts";
import { ada, createRouteApp } from "../../support/route_app.ts";

test("getChannels sees one state, although a scan is registered between its two queries", async () => {
  const opened = await openOnPostgres(createPgDatabase);
  const acme = await seedTenant(opened.database);
  const seen: number[] = [];
  const route = defineEventStream({
    prefix: "thing",
    async getChannels({ db, principal, params }) {
      seen.push((await db.select().from(scans)).length);
      await write(opened.database, everyTenant, (other) => other.insert(scans).values({ tenantId: acme.id }));
      seen.push((await db.select().from(scans)).length);
      return [makeChannelName("thing", principal.tenantId, params.id)];
    },
  });
  const app = createRouteApp(opened.database, route);
  const member = { ...ada, tenantId: acme.id, id: `one@${acme.id}` };
  const response = await app.get(`/${crypto.randomUUID()}/event-stream`, member);
  expect(response.status).toBe(200);
  await response.body?.cancel();
  expect(seen).toEqual([2, 2]);
  await app[Symbol.asyncDispose]();
  await opened.close();
});
