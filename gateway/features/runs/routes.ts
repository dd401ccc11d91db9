import type * as v from "valibot";
import { isUnavailable } from "../../../shared/app_error.ts";
import { json, problem } from "../../description/operation.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import type { Access } from "../../auth/membership.ts";
import { listByTime } from "../../http/paging.ts";
import type { Call, Resource } from "../../http/resource.ts";
import { afterResponse } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { announceOrganization } from "../organizations/announce_updates.ts";
import { announceDeleted } from "./announce_runs.ts";
import type { RunKind, RunRow } from "./run.ts";
import type { Change, Reported, RunStore } from "./store.ts";

/** The routes that both kinds of runs have, with what is different. */
export interface RunRoutes<Row extends RunRow, Update extends { readonly status?: string }> {
  readonly kind: RunKind<Row>;
  readonly store: RunStore<Row>;
  /** The component `Scan` or `Monitor`. */
  readonly shown: v.GenericSchema;
  readonly example: object;
  readonly toResource: (row: Row, nowMs: number) => object;
  readonly update: {
    readonly summary: string;
    readonly description: string;
    readonly schema: v.GenericSchema<unknown, Update>;
    readonly example: object;
    readonly toChange: (update: Update) => Change;
    /** In the transaction that stores the report. */
    readonly onStored: (db: TenantDatabase, reported: Reported<Row>, update: Update) => Promise<void>;
    /** Resolves when the producer need not wait any longer. */
    readonly announce: (c: Call<Update, unknown>["c"], reported: Reported<Row>, update: Update) => Promise<void>;
  };
  readonly deletion: {
    readonly summary: string;
    readonly description: string;
    readonly announceEnd: (row: Row) => Promise<void>;
  };
}

export function defineRunRoutes<Row extends RunRow, Update extends { readonly status?: string }>(
  resource: Resource,
  dependencies: FeatureDependencies,
  { kind, store, shown, example, toResource, update, deletion }: RunRoutes<Row, Update>,
): void {
  const { name } = kind;
  const Name = name === "scan" ? "Scan" : "Monitor";
  const { nowMs } = dependencies;
  const theRun = json(shown, `The ${name} now`, { example });

  resource.list(
    `GET /${name}s`,
    {
      allow: "read",
      operationId: `list${Name}s`,
      summary: `List ${name}s, newest first`,
      list: listByTime(`${name}s`, (row: Row) => toResource(row, nowMs())),
      of: [shown, `${Name}Page`],
      example,
    },
    ({ page, readOne }) => readOne((db) => store.selectPage(db, page)),
  );

  resource.on(
    `GET /${name}s/:id`,
    { allow: "read", operationId: `get${Name}`, summary: `Read a ${name}`, answers: { 200: theRun } },
    async ({ c, id, readOne }) => c.json(toResource(store.require(await readOne((db) => store.byId(db, id))), nowMs())),
  );

  resource.on(
    `PATCH /${name}s/:id`,
    {
      allow: "publish",
      operationId: `update${Name}`,
      summary: update.summary,
      description:
        `${update.description} \`pass\`, \`fail\`, \`manual\` and \`not_applicable\` are together no more than ` +
        (name === "scan" ? "`checks_done`, and that no more than `checks_total` " : "`checks_total` ") +
        "unless it is 0, which means: not known. What is left out is judged by what is stored.",
      body: { schema: update.schema, example: update.example },
      answers: { 200: theRun, 409: problem(`The ${name} has ended`) },
    },
    async ({ c, id, body, read, write }) => {
      const reported = await report({ read, write }, id, body);
      await update.announce(c, reported, body);
      return c.json(toResource(reported.row, nowMs()));
    },
  );

  resource.on(
    `DELETE /${name}s/:id`,
    {
      allow: "decide",
      operationId: `delete${Name}`,
      summary: deletion.summary,
      description: deletion.description,
      answers: { 204: { description: "Deleted" } },
    },
    async ({ c, id, write }) => {
      const deleted = await store.remove(write, id, deletion.announceEnd);
      await announceDeleted(kind, deleted, dependencies);
      afterResponse(c, announceOrganization(dependencies, deleted));
      return c.body(null, 204);
    },
  );

  /** The database may store an end and lose its answer: then it is read, because no other request would publish it. */
  async function report(
    { read, write }: Pick<Access, "read" | "write">,
    id: string,
    body: Update,
  ): Promise<Reported<Row>> {
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
}
