import { and, desc, eq, inArray, type SQL, type SQLWrapper } from "drizzle-orm";
import type * as v from "valibot";
import { columnsOfRuns, runs } from "../../../drizzle/schema.ts";
import { write, type TenantDatabase } from "../../../drizzle/transactions.ts";
import { isUnavailable, NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
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
import { announceDeleted, runChannel, toRun, toSnapshot, type RunKind, type RunRow } from "./run.ts";
import { monitorStore, scanStore, type Change, type Reported } from "./store.ts";

interface Silence extends Omit<Task, "run"> {
  /** Written out as the index has it. */
  readonly isDue: SQL;
  readonly change: object;
  readonly announce: (row: RunRow, dependencies: FeatureDependencies) => Promise<void>;
}

/** The parts of a kind of runs that are its own. */
export interface RunFeature<Update extends { readonly status?: string }> {
  readonly kind: RunKind;
  /** The component `Scan` or `Monitor`. */
  readonly shown: v.GenericSchema;
  /** Texts of the OpenAPI document. */
  readonly texts: {
    readonly tag: string;
    readonly deletion: { readonly summary: string; readonly description: string };
    readonly stream: string;
  };
  /** Publishes that a run has ended which is deleted. */
  readonly announceEnd: (row: RunRow, dependencies: FeatureDependencies) => Promise<void>;
  readonly update: {
    readonly summary: string;
    readonly description: string;
    /** The number that limits the counts. */
    readonly counts: string;
    readonly schema: v.GenericSchema<unknown, Update>;
    readonly example: object;
    readonly toChange: (update: Update) => Change;
    /** In the transaction that stores the report. */
    readonly onStored: (db: TenantDatabase, reported: Reported, update: Update) => Promise<void>;
    /** Resolves when the producer need not wait any longer. */
    readonly announce: (
      call: Call<Update, unknown>,
      reported: Reported,
      dependencies: FeatureDependencies,
    ) => Promise<void>;
  };
  /** A change of runs whose producer is gone. */
  readonly silence: Silence;
  readonly onPublish: OnPublish;
  readonly eventStreams?: Feature["eventStreams"];
  readonly defineRoutes: (resource: Resource, dependencies: FeatureDependencies) => void;
}

export function defineRuns<Update extends { readonly status?: string }>(feature: RunFeature<Update>): Feature {
  const { kind, shown, update, texts } = feature;
  const store = kind === "scan" ? scanStore : monitorStore;
  const { isDue, change: changed, announce, ...times } = feature.silence;
  const Kind = kind === "scan" ? "Scan" : "Monitor";
  return defineFeature({
    prefix: kind,
    tags: [{ name: `${kind}s`, description: texts.tag }],
    isEndedByGatewayAlone: true,
    onPublish: feature.onPublish,
    routes(dependencies) {
      const resource = defineResource({ tag: `${kind}s`, what: kind });
      defineRoutes(resource, dependencies);
      feature.defineRoutes(resource, dependencies);
      return resource.routes;
    },
    eventStreams: { [`/${kind}s`]: defineStream(), ...feature.eventStreams },
    tasks: [{ ...times, run: findSilent }],
  });

  function defineRoutes(resource: Resource, dependencies: FeatureDependencies): void {
    const theRun = json(shown, `The ${kind} now`);

    resource.list(`GET /${kind}s`, `list${Kind}s`, {
      allow: "read",
      summary: `List ${kind}s, newest first`,
      query: { org_url: described(webAddress, `Only the ${kind}s of this organization`) },
      list: listByTime(toRun, "id", isUuid),
      of: [shown, `${Kind}Page`],
      select: ({ page, parameters, readOne }) => readOne((db) => store.selectPage(db, page, parameters.org_url)),
    });

    resource.on(`GET /${kind}s/:id`, `get${Kind}`, {
      allow: "read",
      summary: `Read a ${kind}`,
      answers: { 200: theRun },
      handle: async ({ id, readOne }) => toRun(store.require(await readOne((db) => store.byId(db, id)))),
    });

    resource.on(`PATCH /${kind}s/:id`, `update${Kind}`, {
      allow: "publish",
      summary: update.summary,
      description:
        `${update.description} \`pass\`, \`fail\`, \`manual\` and \`not_applicable\` are together no more than ` +
        `${update.counts} unless it is 0, which means: not known. What is left out is judged by what is stored.`,
      body: { schema: update.schema, example: update.example },
      answers: { 200: theRun, 409: problem(`The ${kind} has ended`) },
      handle: async (call) => {
        const reported = await report(call);
        await update.announce(call, reported, dependencies);
        return toRun(reported.row);
      },
    });

    resource.on(`DELETE /${kind}s/:id`, `delete${Kind}`, {
      allow: "decide",
      ...texts.deletion,
      answers: { 204: { description: "Deleted" } },
      handle: async ({ c, id, write }) => {
        const deleted = await store.remove(write, id, (row) => feature.announceEnd(row, dependencies));
        await announceDeleted(deleted, dependencies);
        afterResponse(c, announceOrganization(dependencies, deleted));
      },
    });
  }

  /** The database may store an end and lose its answer: then it is read, because no other request would publish it. */
  async function report({ id, body, read, write }: Call<Update, unknown>): Promise<Reported> {
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
      prefix: kind,
      parameters: [],
      getChannels: ({ db, params }) => getChannels(kind, db, [params.id]),
      getSnapshot: ({ db, params }) => getSnapshot(kind, db, [params.id]),
      text: {
        operationId: `follow${Kind}`,
        summary: `Follow a ${kind}`,
        description: texts.stream,
        what: kind,
        ended: `The ${kind} has ended: do not reconnect`,
        notFound: `No such ${kind} in this tenant`,
      },
    });
  }

  /** However many gateways do it at once, each run is changed by one of them. */
  async function findSilent(tenantId: string, dependencies: FeatureDependencies): Promise<boolean> {
    const rows = await write(dependencies.database, { tenantId }, (db) => {
      const due = db.select({ id: runs.id }).from(runs).where(isDue).limit(1000);
      const locked = due.for("update", { skipLocked: true });
      return db.update(runs).set(changed).where(isOneOf(kind, locked)).returning(columnsOfRuns(kind));
    });
    await announceAll(rows, (row) => announce(row, dependencies));
    if (rows.length > 0) dependencies.log.info({ count: rows.length }, `${kind}s without a producer`);
    return rows.length > 0;
  }
}

/**
 * The channels of the requested runs that have not ended, or of all requested runs when all have ended. Rejects with `NotFound` for a
 * run that is not visible in the tenant.
 */
export async function getChannels(kind: RunKind, db: TenantDatabase, ids: readonly string[]): Promise<ChannelsResult> {
  // No more than a stream's opening needs: to build the statement with every column takes nearly twice as long.
  const { id, tenantId, endedAt } = runs;
  const rows = await db.select({ id, tenantId, endedAt }).from(runs).where(isOneOf(kind, ids));
  if (rows.length < ids.length) throw new NotFound(`No such ${kind}`);
  const running = rows.filter((run) => run.endedAt === null);
  // The run's own tenant, not the reader's: that the two are one is checked by name afterwards.
  const channels = (running.length === 0 ? rows : running).map((run) => runChannel({ kind, ...run }));
  return running.length === 0 ? ended(...channels) : channels;
}

/** All of them, newest first; one that was deleted in the meantime is not there. */
export async function getSnapshot(kind: RunKind, db: TenantDatabase, ids: readonly string[]): Promise<Snapshot> {
  const query = db.select(columnsOfRuns(kind)).from(runs).where(isOneOf(kind, ids));
  const rows = await query.orderBy(desc(runs.createdAt), desc(runs.id));
  return { events: rows.map(toSnapshot), hasEnded: rows.every((row) => row.endedAt !== null) };
}

function isOneOf(kind: RunKind, ids: readonly string[] | SQLWrapper): SQL | undefined {
  return and(eq(runs.kind, kind), inArray(runs.id, ids));
}
