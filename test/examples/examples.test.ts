import { getTableConfig } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { write } from "../../drizzle/transactions.ts";
import type { ChannelsRequest, ChannelsResult } from "../../gateway/streaming/define_event_stream.ts";
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
import { createPublisher } from "../../shared/send_event.ts";
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
  return write(database, { tenantId: principal.tenantId }, (db) =>
    getChannels({ principal, params: { id }, db, query: {}, queryAll: () => [] }),
  );
}

describe("job checkpoints", () => {
  const channel = jobs.jobChannel(tenantId, running);

  test("with `snapshot` a stream begins with the job as it is", async () => {
    await using app = createRouteApp(database, jobEventStream);
    const opened = await app.get(`/${running}/event-stream?snapshot=1`, ada);
    expect(await readUntil(opened, ": snapshot complete\n")).toBe(
      `retry: 2000\n: open\nevent: job.snapshot\ndata: {"job_id":"${running}","has_ended":false}\n\n: snapshot complete\n`,
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
  const channel = completions.completionChannel(tenantId, running);

  test("getChannels narrows to the person, and does not find another tenant's", async () => {
    await expect(channelsOf(completions.getChannels, running, grace)).rejects.toMatchObject({
      name: "PermissionDenied",
    });
    for (const id of [nowhere, foreign]) {
      await expect(channelsOf(completions.getChannels, id)).rejects.toMatchObject({ name: "NotFound" });
    }
  });

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
  const channel = workspaces.workspaceChannel(tenantId, running);
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
    const otherChannel = workspaces.workspaceChannel(otherTenantId, foreign);
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
