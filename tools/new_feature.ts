import { camelCase, type Start } from "./start.ts";

/**
 * A feature from nothing: its table with policies, grants and migration, its schemas, REST, events and stream, its place in the
 * seed of the isolation tests, and tests.
 */
export function newFeature(name: string): Start {
  if (name.endsWith("s"))
    throw new RangeError(`${JSON.stringify(name)} ends in "s": expected the name of one, as in deployment`);
  const names: Names = { name, plural: `${name}s`, camel: camelCase(name), pascal: pascalCase(name) };
  const { plural, camel, pascal } = names;
  const folder = `gateway/features/${plural}`;
  return {
    files: {
      [`drizzle/tables/${plural}.ts`]: table(names),
      [`shared/schemas/${name}.ts`]: schemas(names),
      [`${folder}/channels.ts`]: channels(names),
      [`${folder}/events.ts`]: events(names),
      [`${folder}/routes.ts`]: routes(names),
      [`test/${folder}/${plural}.test.ts`]: tests(names),
    },
    edits: [
      append("drizzle/schema.ts", `export * from "./tables/${plural}.ts";\n`, 'export * from "./tables/webhooks.ts"'),
      append("gateway/features/features.ts", `import { ${camel}s } from "./${plural}/routes.ts";\n`, "\n/** What"),
      append("gateway/features/features.ts", `, ${camel}s`, "];", "features: readonly"),
      append("test/drizzle/seed.ts", `  ${camel}s,\n`, '} from "../../drizzle/schema.ts"'),
      ...namedInTables(names),
      append(
        "test/drizzle/seed.ts",
        `  await db.insert(${camel}s).values(["one", "two"].map((each) => ({ tenantId: id, name: each })));\n  `,
        "  });\n  return",
      ),
    ],
    migration: {
      name: plural,
      sql: `ALTER TABLE public.${plural} FORCE ROW LEVEL SECURITY;--> statement-breakpoint
REVOKE ALL ON public.${plural} FROM PUBLIC;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON public.${plural} TO scanstream_admin;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON public.${plural} TO scanstream_app;
`,
    },
    commands: [],
    next: [
      `drizzle/tables/${plural}.ts: its columns; then delete the migration and its snapshot, and generate it again`,
      `shared/schemas/${name}.ts: the same fields, and the events of a ${pascal}`,
      `${folder}/: what is done with them; docs/features.md explains each file`,
    ],
  };
}

/** Where every route and every table of a tenant is named: permissions, the requests of their walk, export and import. */
function namedInTables({ plural, camel }: Names) {
  const route = (method: string, rest: string) => `\`${method} /api/v1/${plural}${rest}\``;
  const permissions = "docs/permissions.md";
  const samples = "conformance/gateway/permissions/sample_requests.ts";
  const one = `async ({ make }) => ({ path: \`/api/v1/${plural}/\${String((await make("POST", "/api/v1/${plural}", { name: "one" }))["id"])}`;
  const exported = "gateway/features/tenant/exported_tables.ts";
  return [
    append(permissions, `${route("GET", "")}, ${route("GET", "/:id")}, `, "`GET /api/v1/scans/:id/event-stream`"),
    append(permissions, `${route("GET", "/:id/event-stream")}, `, "`POST /api/v1/stream-tokens`"),
    append(permissions, `, ${route("POST", "")}, ${route("POST", "/:id/end")}`, " |\n| `decide`", "## Routes"),
    append(
      samples,
      `  "POST /api/v1/${plural}": at("/api/v1/${plural}", { name: "one" }),
  "GET /api/v1/${plural}/:id": ${one}\` }),
  "POST /api/v1/${plural}/:id/end": ${one}/end\`, json: {} }),
  "GET /api/v1/${plural}/:id/event-stream": ${one}/event-stream\` }),
`,
      '  "PATCH /api/v1/tenant"',
    ),
    append(exported, `  ${camel}s,\n`, '} from "../../../drizzle/schema.ts"'),
    append(exported, `  { table: ${camel}s, key: [${camel}s.id] },\n`, "  { table: scans,"),
  ];
}

interface Names {
  readonly name: string;
  readonly plural: string;
  readonly camel: string;
  readonly pascal: string;
}

function append(path: string, text: string, before: string, from?: string) {
  return { path, text, before, ...(from === undefined ? {} : { from }) };
}

function pascalCase(name: string): string {
  const camel = camelCase(name);
  return `${camel.slice(0, 1).toUpperCase()}${camel.slice(1)}`;
}

function table({ plural, camel }: Names): string {
  return `import { sql } from "drizzle-orm";
import { check, index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { tenantPolicies } from "../policies.ts";
import { instant } from "./columns.ts";
import { tenants } from "./people.ts";

export const ${camel}s = pgTable(
  "${plural}",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),
  },
  (table) => [
    index("${plural}_of_tenant").on(table.tenantId, table.createdAt, table.id),
    check("${plural}_name_length", sql\`length(\${table.name}) between 1 and 200\`),
    ...tenantPolicies("${plural}", table.tenantId),
  ],
);
`;
}

function schemas({ name, camel, pascal }: Names): string {
  return `import * as v from "valibot";
import { count, fieldMessage, text, time, uuid, type Output } from "./primitives.ts";

/** A ${name} as the API shows it. */
export const ${camel}Schema = v.object({
  id: uuid(),
  tenant_id: uuid(),
  name: v.string(),
  created_at: time,
  ended_at: v.nullable(time),
});

export const new${pascal}Schema = v.strictObject({ name: text(1, 200) }, fieldMessage);

const ${name}_id = uuid();

/** The payloads of its events, by type. */
export const ${camel}EventSchemas = {
  "${name}.progress": v.object({ ${name}_id, done: count }),
  "${name}.end": v.object({ ${name}_id }),
};

export type ${pascal} = Output<typeof ${camel}Schema>;

/** The event map of its stream, for \`subscribe<${pascal}Events>\`. */
export type ${pascal}Events = {
  readonly [Type in keyof typeof ${camel}EventSchemas]: Output<(typeof ${camel}EventSchemas)[Type]>;
};
`;
}

function channels({ name, camel, pascal, plural }: Names): string {
  return `import { eq } from "drizzle-orm";
import { ${camel}s } from "../../../drizzle/schema.ts";
import { NotFound } from "../../../shared/app_error.ts";
import { ${camel}EventSchemas } from "../../../shared/schemas/${name}.ts";
import type { ChannelDescription } from "../../description/operation.ts";
import {
  defineEventStream,
  ended,
  type ChannelsRequest,
  type ChannelsResult,
} from "../../streaming/define_event_stream.ts";
import { ${camel}Channel, ${camel}Prefix } from "./events.ts";

/** The channel of the requested ${name}. Rejects with \`NotFound\` for one that is not visible in the tenant. */
async function getChannels({ db, params }: Pick<ChannelsRequest, "db" | "params">): Promise<ChannelsResult> {
  const { id, tenantId, endedAt } = ${camel}s;
  const [row] = await db.select({ id, tenantId, endedAt }).from(${camel}s).where(eq(id, params.id));
  if (row === undefined) throw new NotFound("No such ${name}");
  const channel = ${camel}Channel(row.tenantId, row.id);
  return row.endedAt === null ? [channel] : ended(channel);
}

/** \`GET /api/v1/${plural}/:id/event-stream\`, until its \`${name}.end\`. */
export const ${camel}EventStream = defineEventStream({
  prefix: ${camel}Prefix,
  getChannels,
  terminalTypes: ["${name}.end"],
  text: {
    operationId: "follow${pascal}",
    summary: "Follow one",
    description: "Server-sent events until \`${name}.end\`; see /asyncapi.json. Nothing is replayed.",
    what: "${name}",
    ended: "It has ended: do not reconnect",
    notFound: "No such ${name} in this tenant",
  },
});

export const ${camel}ChannelDescription: ChannelDescription = {
  prefix: ${camel}Prefix,
  resource: "${name}_id",
  title: "One ${name}",
  description: "Read at /api/v1/${plural}/{${name}_id}/event-stream.",
  schemas: ${camel}EventSchemas,
  summaries: {
    "${name}.progress": "TODO",
    "${name}.end": "The last event: the stream closes after it",
  } satisfies Record<keyof typeof ${camel}EventSchemas, string>,
};
`;
}

function events({ name, camel, pascal }: Names): string {
  return `import type { Publisher } from "../../../shared/broker.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import type { ${pascal}Events } from "../../../shared/schemas/${name}.ts";
import { sendEvent } from "../../../shared/send_event.ts";

export const ${camel}Prefix = "${name.replaceAll("_", "-")}";

/** \`tenantId\` is the ${name}'s own tenant. */
export function ${camel}Channel(tenantId: string, id: string): string {
  return makeChannelName(${camel}Prefix, tenantId, id);
}

/** One function an event. */
export function publish${pascal}Progress(
  publisher: Publisher,
  channel: string,
  payload: ${pascal}Events["${name}.progress"],
): Promise<void> {
  return sendEvent(publisher, channel, "${name}.progress", payload);
}

export function publish${pascal}End(
  publisher: Publisher,
  channel: string,
  payload: ${pascal}Events["${name}.end"],
): Promise<void> {
  return sendEvent(publisher, channel, "${name}.end", payload);
}
`;
}

function routes({ name, plural, camel, pascal }: Names): string {
  return `import { and, desc, eq, isNull } from "drizzle-orm";
import { Hono } from "hono";
import { ${camel}s as table } from "../../../drizzle/schema.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { ${camel}Schema, new${pascal}Schema, type ${pascal} } from "../../../shared/schemas/${name}.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import type { FeatureDependencies } from "../../http/dependencies.ts";
import { afterCursor, listByTime } from "../../http/paging.ts";
import { defineResource } from "../../http/resource.ts";
import { ${camel}ChannelDescription, ${camel}EventStream } from "./channels.ts";
import { ${camel}Channel, ${camel}Prefix, publish${pascal}End } from "./events.ts";

const ${pascal} = component("${pascal}", ${camel}Schema);
const example = {
  id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  tenant_id: "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11",
  name: "TODO",
  created_at: "2026-11-22T09:30:00.000Z",
  ended_at: null,
};

export const ${camel}s = {
  prefix: ${camel}Prefix,
  tags: [{ name: "${plural}", description: "TODO: what they are" }],
  channel: ${camel}ChannelDescription,
  routes: restRoutes,
  eventStreams: { "/${plural}": ${camel}EventStream },
};

function restRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const routes = new Hono<Allowed>();
  const resource = defineResource(routes, dependencies, { tag: "${plural}", what: "${name}" });

  resource.on(
    "POST /${plural}",
    {
      allow: "publish",
      operationId: "create${pascal}",
      summary: "Register one",
      body: { schema: new${pascal}Schema, example: { name: example.name } },
      answers: { 201: json(${pascal}, "Registered", { headers: ["Location"], example }) },
    },
    async ({ c, principal: { tenantId }, body: { name }, query }) => {
      const [row] = await query((db) => db.insert(table).values({ tenantId, name }).returning());
      if (row === undefined) throw new Error("Cannot store: the insert returned no row");
      return c.json(to${pascal}(row), 201, { location: \`/api/v1/${plural}/\${row.id}\` });
    },
  );

  resource.list(
    "GET /${plural}",
    {
      allow: "read",
      operationId: "list${pascal}s",
      summary: "List them, newest first",
      list: listByTime("${plural}", to${pascal}),
      of: [${pascal}, "${pascal}Page"],
      example,
    },
    ({ page, query }) =>
      query((db) =>
        db
          .select()
          .from(table)
          .where(afterCursor(page, table.createdAt, table.id))
          .orderBy(desc(table.createdAt), desc(table.id))
          .limit(page.limit + 1),
      ),
  );

  resource.on(
    "GET /${plural}/:id",
    {
      allow: "read",
      operationId: "get${pascal}",
      summary: "Read one",
      answers: { 200: json(${pascal}, "As it is now", { example }) },
    },
    async ({ c, id, query }) => {
      const [row] = await query((db) => db.select().from(table).where(eq(table.id, id)));
      if (row === undefined) throw new NotFound("No such ${name}");
      return c.json(to${pascal}(row));
    },
  );

  resource.on(
    "POST /${plural}/:id/end",
    {
      allow: "publish",
      operationId: "end${pascal}",
      summary: "End one",
      answers: { 200: json(${pascal}, "Ended"), 409: problem("It has ended already") },
    },
    async ({ c, id, query }) => {
      const row = await query(async (db) => {
        const isOpen = and(eq(table.id, id), isNull(table.endedAt));
        const [updated] = await db.update(table).set({ endedAt: new Date() }).where(isOpen).returning();
        if (updated !== undefined) return updated;
        const [found] = await db.select().from(table).where(eq(table.id, id));
        if (found === undefined) throw new NotFound("No such ${name}");
        throw new AppError("conflict", "It has ended already");
      });
      // Stored first: a client that hears of the end finds it.
      await publish${pascal}End(dependencies.publisher, ${camel}Channel(row.tenantId, row.id), { ${name}_id: row.id });
      return c.json(to${pascal}(row));
    },
  );

  return routes;
}

function to${pascal}(row: typeof table.$inferSelect): ${pascal} {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
`;
}

function tests({ name, plural, camel, pascal }: Names): string {
  return `import { afterAll, beforeAll, expect, test } from "vitest";
import { ${camel}Channel, publish${pascal}Progress } from "../../../../gateway/features/${plural}/events.ts";
import { parseMessage } from "../../../../shared/event.ts";
import { problemOf, readStream, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  key = \`Api-Key \${gateway.acme.apiKey}\`;
});
afterAll(() => gateway.stop());

const post = (path: string, json: unknown = {}) => gateway.request(\`/api/v1/${plural}\${path}\`, { method: "POST", json, as: key });

async function create(): Promise<string> {
  const response = await post("", { name: "one" });
  expect(response.status).toBe(201);
  return ((await response.json()) as { readonly id: string }).id;
}

test("a ${name} that was stored can be read by its tenant and by no other", async () => {
  const path = \`/api/v1/${plural}/\${await create()}\`;
  expect(await (await gateway.request(path, { as: key })).json()).toMatchObject({ name: "one", ended_at: null });
  const other = await gateway.request(path, { as: \`Api-Key \${gateway.globex.apiKey}\` });
  expect(await problemOf(other)).toMatchObject({ status: 404 });
  await create();
  const newest = (await (await gateway.request("/api/v1/${plural}?limit=1", { as: key })).json()) as {
    readonly items: readonly { readonly id: string }[];
    readonly next_cursor: string;
  };
  const next = await gateway.request(\`/api/v1/${plural}?cursor=\${newest.next_cursor}\`, { as: key });
  expect(await next.json()).toMatchObject({ items: [{ id: path.slice(-36) }], next_cursor: null });
});

test("its stream carries its end and closes; afterwards it is 204", async () => {
  const id = await create();
  const path = \`/api/v1/${plural}/\${id}/event-stream\`;
  const stream = await gateway.request(path, { as: key });
  expect(stream.status).toBe(200);
  expect((await post(\`/\${id}/end\`)).status).toBe(200);
  expect(await readStream(stream, ": close ended")).toContain(\`event: ${name}.end\\ndata: {"${name}_id":"\${id}"}\`);
  expect((await gateway.request(path, { as: key })).status).toBe(204);
  expect((await post(\`/\${id}/end\`)).status).toBe(409);
});

test("its progress is an event with a flat payload", async () => {
  const id = await create();
  const sent: string[] = [];
  const publisher = { publish: async (_: string, message: string) => void sent.push(message) };
  await publish${pascal}Progress(publisher, ${camel}Channel(gateway.acme.id, id), { ${name}_id: id, done: 1 });
  expect(sent.map(parseMessage)).toMatchObject([{ type: "${name}.progress", data: \`{"${name}_id":"\${id}","done":1}\` }]);
});

test("a body with a wrong field is 422", async () => {
  expect(await problemOf(await post("", { name: "", ${camel}: 1 }))).toMatchObject({ status: 422 });
});
`;
}
