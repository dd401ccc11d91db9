import { getTableConfig } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { read } from "../../drizzle/transactions.ts";
import type { ChannelsRequest, ChannelsResult } from "../../gateway/streaming/event_stream_definition.ts";
import * as jobs from "../../examples/job_checkpoints/channels.ts";
import { jobEvents } from "../../examples/job_checkpoints/events.ts";
import { jobEventStream } from "../../examples/job_checkpoints/routes.ts";
import * as completions from "../../examples/model_tokens/channels.ts";
import { completionEvents } from "../../examples/model_tokens/events.ts";
import { completionEventStream } from "../../examples/model_tokens/routes.ts";
import * as tables from "../../examples/platform_tables.ts";
import * as workspaces from "../../examples/resource_sync/channels.ts";
import { documentEvents } from "../../examples/resource_sync/events.ts";
import { workspaceEventStream } from "../../examples/resource_sync/routes.ts";
import type { Principal } from "../../gateway/auth/principal.ts";
import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { createPublisher } from "../../shared/send_event.ts";
import { recordEvents } from "../../gateway/library/record_events.ts";
import { ada, createRouteApp, grace, linus, openTestDatabase, readUntil } from "../support/route_app.ts";
import { otherTenantId, tenantId } from "../support/stream_server.ts";

const running = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const over = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
const foreign = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";
const nowhere = "dddddddd-dddd-4ddd-8ddd-dddddddddddd";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase(
    ...protectedTable("jobs", "ended_at timestamptz"),
    ...protectedTable("completions", "created_by text not null, ended_at timestamptz"),
    ...protectedTable("workspaces", "name text"),
    `insert into jobs (id, tenant_id, ended_at) values
      ('${running}', '${tenantId}', null), ('${over}', '${tenantId}', now()), ('${foreign}', '${otherTenantId}', null)`,
    `insert into completions (id, tenant_id, created_by, ended_at) values
      ('${running}', '${tenantId}', 'ada', null), ('${over}', '${tenantId}', 'ada', now()),
      ('${foreign}', '${otherTenantId}', 'linus', null)`,
    `insert into workspaces (id, tenant_id) values ('${running}', '${tenantId}'), ('${foreign}', '${otherTenantId}')`,
  );
});
afterAll(() => database.close());

/** As a platform's own migration would make it. */
function protectedTable(name: string, columns: string): readonly string[] {
  return [
    `create table ${name} (id uuid primary key, tenant_id uuid not null, ${columns})`,
    `alter table ${name} enable row level security`,
    `alter table ${name} force row level security`,
    `create policy ${name}_of_tenant on ${name} to scanstream_app
      using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)`,
    `grant select on ${name} to scanstream_app`,
  ];
}

type GetChannels = (request: ChannelsRequest) => Promise<ChannelsResult>;

function channelsOf(getChannels: GetChannels, id: string, principal: Principal = ada): Promise<ChannelsResult> {
  return read(database, { tenantId }, (db) =>
    getChannels({ principal, params: { id }, db, query: {}, queryAll: () => [] }),
  );
}

describe.each([
  { prefix: "job", ...jobs, channelOf: jobs.jobChannel },
  { prefix: "completion", ...completions, channelOf: completions.completionChannel },
  { prefix: "workspace", ...workspaces, channelOf: workspaces.workspaceChannel },
])("getChannels of a $prefix", ({ prefix, getChannels, channelOf }) => {
  test("returns the channel of a resource of the tenant", async () => {
    expect(await channelsOf(getChannels, running)).toEqual([`${prefix}:${tenantId}:${running}`]);
  });

  test("takes the tenant from the resource, as its producer does", async () => {
    const reader = { ...ada, tenantId: otherTenantId };
    expect(await channelsOf(getChannels, running, reader)).toEqual([`${prefix}:${tenantId}:${running}`]);
    expect(channelOf({ tenantId: otherTenantId, id: foreign })).toBe(`${prefix}:${otherTenantId}:${foreign}`);
  });

  test.each([nowhere, foreign])("throws NotFound for %s", async (id) => {
    await expect(channelsOf(getChannels, id)).rejects.toBeInstanceOf(NotFound);
  });
});

test("getChannels of a completion throws PermissionDenied for another member", async () => {
  await expect(channelsOf(completions.getChannels, running, grace)).rejects.toBeInstanceOf(PermissionDenied);
});

test("each publish function sends its type with the payload as it is", async () => {
  const publisher = recordEvents();
  const [jobId, completionId, change] = [running, over, { document_id: foreign, version: 7 }];
  const checkpoint = { job_id: jobId, checkpoint: "a", done: 1, total: 2 };
  const channel = workspaces.workspaceChannel({ tenantId, id: running });
  const sent: readonly (readonly [string, Readonly<Record<string, unknown>>, (data: never) => Promise<void>])[] = [
    ["job.progress", checkpoint, (data) => jobEvents(publisher).publishJobProgress(channel, data)],
    ["job.end", { job_id: jobId, status: "failed" }, (data) => jobEvents(publisher).publishJobEnd(channel, data)],
    [
      "completion.delta",
      { completion_id: completionId, index: 0, text: "a" },
      (data) => completionEvents(publisher).publishCompletionDelta(channel, data),
    ],
    [
      "completion.end",
      { completion_id: completionId, tokens: 2 },
      (data) => completionEvents(publisher).publishCompletionEnd(channel, data),
    ],
    ["document.created", change, (data) => documentEvents(publisher).publishDocumentCreated(channel, data)],
    ["document.updated", change, (data) => documentEvents(publisher).publishDocumentUpdated(channel, data)],
    ["document.deleted", change, (data) => documentEvents(publisher).publishDocumentDeleted(channel, data)],
  ];
  for (const [, data, publish] of sent) await publish(data as never);
  expect(publisher.events).toEqual(sent.map(([type, data]) => ({ channel, type, data })));
});

describe("job checkpoints", () => {
  const channel = jobs.jobChannel({ tenantId, id: running });

  test("with `snapshot` a stream begins with the job as it is", async () => {
    await using app = createRouteApp(database, jobEventStream);
    const opened = await app.get(`/${running}/event-stream?snapshot=1`, ada);
    expect(await readUntil(opened, ": snapshot complete\n")).toBe(
      `retry: 2000\n: open\n: terminal job.end 1\nevent: job.snapshot\ndata: {"job_id":"${running}","has_ended":false}\n\n: snapshot complete\n`,
    );
    expect((await app.get(`/${over}/event-stream?snapshot=1`, ada)).status).toBe(204);
  });

  test("a client follows a job to its end, and gets a refusal when there is nothing to follow", async () => {
    await using app = createRouteApp(database, jobEventStream);
    const response = await app.get(`/${running}/event-stream`, ada);
    const { publishJobProgress, publishJobEnd } = jobEvents(createPublisher(app.broker));
    await publishJobProgress(channel, { job_id: running, checkpoint: "a", done: 1, total: 1 });
    await publishJobEnd(channel, { job_id: running, status: "succeeded" });
    expect(await response.text()).toMatch(/event: job\.progress\n.*\n\nevent: job\.end\n.*\n\n: close ended\n $/);
    expect((await app.get(`/${over}/event-stream`, ada)).status).toBe(204);
    expect((await app.get(`/${foreign}/event-stream`, ada)).status).toBe(404);
  });
});

describe("model tokens", () => {
  const channel = completions.completionChannel({ tenantId, id: running });

  test("a client reads the tokens in order to the end; another member may not", async () => {
    await using app = createRouteApp(database, completionEventStream);
    const response = await app.get(`/${running}/event-stream`, ada);
    const { publishCompletionDelta, publishCompletionEnd } = completionEvents(createPublisher(app.broker));
    for (const [index, text] of ["Hel", "lo"].entries()) {
      await publishCompletionDelta(channel, { completion_id: running, index, text });
    }
    await publishCompletionEnd(channel, { completion_id: running, tokens: 2 });
    expect([...(await response.text()).matchAll(/"text":"(\w+)"/g)].map(([, text]) => text)).toEqual(["Hel", "lo"]);
    expect((await app.get(`/${running}/event-stream`, grace)).status).toBe(403);
  });
});

describe("resource sync", () => {
  const channel = workspaces.workspaceChannel({ tenantId, id: running });
  const change = { document_id: over, version: 7 };

  test("every client of the workspace receives a change, and none of another tenant's", async () => {
    await using app = createRouteApp(database, workspaceEventStream);
    const [first, second, other] = await Promise.all([
      app.get(`/${running}/event-stream`, ada),
      app.get(`/${running}/event-stream`, grace),
      app.get(`/${foreign}/event-stream`, linus),
    ]);
    const publish = documentEvents(createPublisher(app.broker));
    await publish.publishDocumentCreated(channel, { document_id: over, version: 1 });
    await publish.publishDocumentUpdated(channel, change);
    const otherChannel = workspaces.workspaceChannel({ tenantId: otherTenantId, id: foreign });
    await publish.publishDocumentDeleted(otherChannel, { document_id: running, version: 1 });
    for (const response of [first, second]) {
      expect(await readUntil(response, '"version":7}\n\n')).toContain(
        `event: document.updated\ndata: ${JSON.stringify(change)}`,
      );
    }
    expect(await readUntil(other, "document")).not.toContain("document.updated");
  });
});

test("the examples' tables are what the statements of this test make", () => {
  for (const table of [tables.jobs, tables.completions, tables.workspaces]) {
    const { name, columns, policies } = getTableConfig(table);
    expect(["jobs", "completions", "workspaces"]).toContain(name);
    expect(columns.map((column) => column.name)).toEqual(expect.arrayContaining(["id", "tenant_id"]));
    expect(policies.map((policy) => policy.name)).toContain(`${name}_of_tenant`);
  }
});
