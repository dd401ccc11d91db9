import { desc, inArray, type SQL } from "drizzle-orm";
import type * as v from "valibot";
import { write, type TenantDatabase } from "../../../drizzle/transactions.ts";
import { isUnavailable, NotFound } from "../../../shared/app_error.ts";
import { described } from "../../../shared/schemas/primitives.ts";
import { webAddress } from "../../../shared/schemas/web_address.ts";
import { json, problem } from "../../description/operation.ts";
import { listByTime } from "../../http/query.ts";
import { defineResource, type Call, type Resource } from "../../http/resource.ts";
import {
  defineEventStream,
  ended,
  type ChannelsResult,
  type EventStream,
  type Snapshot,
} from "../../streaming/event_stream_definition.ts";
import type { OnPublish } from "../../streaming/published.ts";
import { afterResponse, announceAll } from "../announce.ts";
import { defineFeature, type Feature, type FeatureDependencies, type Task } from "../features.ts";
import { announceOrganization } from "../organizations/organization.ts";
import { announceDeleted, runChannel, type AnyRunKind, type RunKind, type RunRow } from "./run.ts";
import type { Change, Reported, RunStore } from "./store.ts";

interface Silence<Row extends RunRow> extends Omit<Task, "run"> {
  /** Written out as the index has it. */
  readonly isDue: SQL;
  readonly change: object;
  readonly announce: (row: Row, dependencies: FeatureDependencies) => Promise<void>;
}

/** The parts of a kind of runs that are its own. */
export interface RunFeature<Row extends RunRow, Update extends { readonly status?: string }> {
  readonly kind: RunKind<Row>;
  readonly store: RunStore<Row>;
  /** The component `Scan` or `Monitor`. */
  readonly shown: v.GenericSchema;
  /** Texts of the OpenAPI document. */
  readonly texts: {
    readonly tag: string;
    readonly deletion: { readonly summary: string; readonly description: string };
    readonly stream: string;
  };
  /** Publishes that a run has ended which is deleted. */
  readonly announceEnd: (row: Row, dependencies: FeatureDependencies) => Promise<void>;
  readonly update: {
    readonly summary: string;
    readonly description: string;
    /** The number that limits the counts. */
    readonly counts: string;
    readonly schema: v.GenericSchema<unknown, Update>;
    readonly example: object;
    readonly toChange: (update: Update) => Change;
    /** In the transaction that stores the report. */
    readonly onStored: (db: TenantDatabase, reported: Reported<Row>, update: Update) => Promise<void>;
    /** Resolves when the producer need not wait any longer. */
    readonly announce: (
      call: Call<Update, unknown>,
      reported: Reported<Row>,
      dependencies: FeatureDependencies,
    ) => Promise<void>;
  };
  /** A change of runs whose producer is gone. */
  readonly silence: Silence<Row>;
  readonly onPublish: OnPublish;
  readonly eventStreams?: Feature["eventStreams"];
  readonly defineRoutes: (resource: Resource, dependencies: FeatureDependencies) => void;
}

export function defineRuns<Row extends RunRow, Update extends { readonly status?: string }>(
  feature: RunFeature<Row, Update>,
): Feature {
  const { kind, store, shown, update, texts } = feature;
  const { isDue, change: changed, announce, ...times } = feature.silence;
  const { name } = kind;
  const Name = name === "scan" ? "Scan" : "Monitor";
  return defineFeature({
    prefix: name,
    tags: [{ name: `${name}s`, description: texts.tag }],
    isEndedByGatewayAlone: true,
    onPublish: feature.onPublish,
    routes(dependencies) {
      const resource = defineResource({ tag: `${name}s`, what: name });
      defineRoutes(resource, dependencies);
      feature.defineRoutes(resource, dependencies);
      return resource.routes;
    },
    eventStreams: { [`/${name}s`]: defineStream(), ...feature.eventStreams },
    tasks: [{ ...times, run: findSilent }],
  });

  function defineRoutes(resource: Resource, dependencies: FeatureDependencies): void {
    const theRun = json(shown, `The ${name} now`);
    const { toResource } = kind;

    resource.list(`GET /${name}s`, `list${Name}s`, {
      allow: "read",
      summary: `List ${name}s, newest first`,
      query: { org_url: described(webAddress, `Only the ${name}s of this organization`) },
      list: listByTime(toResource),
      of: [shown, `${Name}Page`],
      select: ({ page, parameters, readOne }) => readOne((db) => store.selectPage(db, page, parameters.org_url)),
    });

    resource.on(`GET /${name}s/:id`, `get${Name}`, {
      allow: "read",
      summary: `Read a ${name}`,
      answers: { 200: theRun },
      handle: async ({ id, readOne }) => toResource(store.require(await readOne((db) => store.byId(db, id)))),
    });

    resource.on(`PATCH /${name}s/:id`, `update${Name}`, {
      allow: "publish",
      summary: update.summary,
      description:
        `${update.description} \`pass\`, \`fail\`, \`manual\` and \`not_applicable\` are together no more than ` +
        `${update.counts} unless it is 0, which means: not known. What is left out is judged by what is stored.`,
      body: { schema: update.schema, example: update.example },
      answers: { 200: theRun, 409: problem(`The ${name} has ended`) },
      handle: async (call) => {
        const reported = await report(call);
        await update.announce(call, reported, dependencies);
        return toResource(reported.row);
      },
    });

    resource.on(`DELETE /${name}s/:id`, `delete${Name}`, {
      allow: "decide",
      ...texts.deletion,
      answers: { 204: { description: "Deleted" } },
      handle: async ({ c, id, write }) => {
        const deleted = await store.remove(write, id, (row) => feature.announceEnd(row, dependencies));
        await announceDeleted(kind, deleted, dependencies);
        afterResponse(c, announceOrganization(dependencies, deleted));
      },
    });
  }

  /** The database may store an end and lose its answer: then it is read, because no other request would publish it. */
  async function report({ id, body, read, write }: Call<Update, unknown>): Promise<Reported<Row>> {
    try {
      return await write(async (db) => {
        const reported = await store.report(db, id, update.toChange(body));
        await update.onStored(db, reported, body);
        return reported;
      });
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const row = await read((db) => store.select(db, id));
      if (row.endedAt === null || row.status !== body.status) throw error;
      return { row, before: row };
    }
  }

  /** `GET /:id/event-stream`: a run, live, until its terminal event. */
  function defineStream(): EventStream {
    return defineEventStream({
      prefix: name,
      parameters: [],
      getChannels: ({ db, params }) => getChannels(kind, db, [params.id]),
      getSnapshot: ({ db, params }) => getSnapshot(kind, db, [params.id]),
      text: {
        operationId: `follow${Name}`,
        summary: `Follow a ${name}`,
        description: texts.stream,
        what: name,
        ended: `The ${name} has ended: do not reconnect`,
        notFound: `No such ${name} in this tenant`,
      },
    });
  }

  /** However many gateways do it at once, each run is changed by one of them. */
  async function findSilent(tenantId: string, dependencies: FeatureDependencies): Promise<boolean> {
    const { table } = kind;
    const rows = await write(dependencies.database, { tenantId }, (db) => {
      const due = db.select({ id: table.id }).from(table).where(isDue).limit(1000);
      const locked = due.for("update", { skipLocked: true });
      return db.update(table).set(changed).where(inArray(table.id, locked)).returning();
    });
    await announceAll(rows as readonly RunRow[] as readonly Row[], (row) => announce(row, dependencies));
    if (rows.length > 0) dependencies.log.info({ count: rows.length }, `${name}s without a producer`);
    return rows.length > 0;
  }
}

/**
 * The channels of the requested runs that have not ended, or of all requested runs when all have ended. Rejects with `NotFound` for a
 * run that is not visible in the tenant.
 */
export async function getChannels(
  kind: AnyRunKind,
  db: TenantDatabase,
  ids: readonly string[],
): Promise<ChannelsResult> {
  const { table } = kind;
  // No more than a stream's opening needs: to build the statement with every column takes nearly twice as long.
  const { id, tenantId, endedAt } = table;
  const rows = await db
    .select({ id, tenantId, endedAt })
    .from(table)
    .where(inArray(id, [...ids]));
  if (rows.length < ids.length) throw new NotFound(`No such ${kind.name}`);
  const running = rows.filter((run) => run.endedAt === null);
  // The run's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channels = (running.length === 0 ? rows : running).map((run) => runChannel(kind, run));
  return running.length === 0 ? ended(...channels) : channels;
}

/** All of them, newest first; one that was deleted in the meantime is not there. */
export async function getSnapshot<Row extends RunRow>(
  { table, toSnapshot }: RunKind<Row>,
  db: TenantDatabase,
  ids: readonly string[],
): Promise<Snapshot> {
  const rows = await db
    .select()
    .from(table)
    .where(inArray(table.id, [...ids]))
    .orderBy(desc(table.createdAt), desc(table.id));
  return {
    events: (rows as readonly RunRow[] as readonly Row[]).map(toSnapshot),
    hasEnded: rows.every((row) => row.endedAt !== null),
  };
}
