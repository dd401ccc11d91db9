import { isUnavailable } from "../../../shared/app_error.ts";
import { changeSchema, newChangesSchema, storedChangesSchema, type NewChange } from "../../../shared/schemas/change.ts";
import { toFindingUpdated } from "../../../shared/finding_updated.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { FeatureDependencies } from "../features.ts";
import type { List } from "../../http/paging.ts";
import { textParameter } from "../../http/query_parameter.ts";
import type { Access } from "../../auth/membership.ts";
import type { Resource } from "../../http/resource.ts";
import { checkParameter } from "../check_parameter.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import { afterResponse } from "../after_response.ts";
import { createMonitorAnnouncer } from "./announce_monitor.ts";
import { selectChanges, selectPresentFindings, selectStored, storeChanges } from "./change_store.ts";
import { monitorEvents } from "./events.ts";
import { changeExample, storedChangeExample } from "./examples.ts";
import { toChange, type ChangeRow } from "./monitor.ts";
import { selectMonitor } from "./monitor_store.ts";

const maxChangesBytes = 1_048_576;
const maxFilterLength = 200;
const changeList: List<ChangeRow, unknown> = {
  name: "changes",
  isKey: (key) => /^\d{1,15}$/.test(key),
  position: (row) => ({ createdAt: row.createdAt, key: String(row.number) }),
  item: toChange,
};

const findingList: List<ChangeRow, unknown> = {
  name: "monitor_findings",
  isKey: (key) => key.length <= 200 && !key.includes("\0"),
  position: (row) => ({ createdAt: row.createdAt, key: row.fingerprint }),
  item: toChange,
};

const Change = component("Change", changeSchema);
export const hasEnded = { 409: problem("The monitor has ended") };

/** How the verdicts of a monitor moved, and what they are. */
export function defineChangeRoutes(resource: Resource, dependencies: FeatureDependencies): void {
  const { publishStored } = createMonitorAnnouncer(dependencies);
  const { publishFindingUpdated } = monitorEvents(dependencies);
  const organizations = organizationAnnouncerOf(dependencies);

  resource.on(
    "POST /monitors/:id/changes",
    {
      allow: "publish",
      operationId: "storeChanges",
      summary: "Store changes",
      description:
        "In the order in which they happened, each stored once by its `id`. Publishes `finding.updated` for each new " +
        "one whose cause is not `start`, on the tenant's stream too.",
      body: {
        schema: newChangesSchema,
        example: { changes: [changeExample] },
        maxBytes: maxChangesBytes,
      },
      answers: {
        200: json(component("StoredChanges", storedChangesSchema), "Stored", { example: { received: 1, created: 1 } }),
        ...hasEnded,
      },
    },
    async ({ c, principal: { tenantId }, id, body: { changes }, read, write }) => {
      const created = await storeNewChanges({ read, write }, id, changes);
      await publishStored(
        { id, tenantId },
        created
          .filter(({ cause }) => cause !== "start")
          .map((change) => (channel) => publishFindingUpdated(channel, toFindingUpdated(id, change))),
      );
      if (created.length > 0) afterResponse(c, organizations.updated(tenantId, { monitorId: id }));
      return c.json({ received: changes.length, created: created.length });
    },
  );

  resource.list(
    "GET /monitors/:id/changes",
    {
      allow: "read",
      operationId: "listChanges",
      summary: "List a monitor's changes, newest first",
      query: { fingerprint: textParameter(maxFilterLength, "One finding"), check: checkParameter("One check") },
      list: changeList,
      of: [Change, "ChangePage"],
      example: storedChangeExample,
    },
    ({ id, page, parameters: filter, read }) =>
      read(async (db) => {
        const found = await selectChanges(db, id, { page, filter });
        // No change is an answer only when there is such a monitor.
        if (found.length === 0) await selectMonitor(db, id);
        return found;
      }),
  );

  resource.list(
    "GET /monitors/:id/findings",
    {
      allow: "read",
      operationId: "listMonitorFindings",
      summary: "List a monitor's present findings",
      description: "The last change of each finding that is still there; its `to` is the present verdict.",
      list: findingList,
      of: [Change, "ChangePage"],
      example: storedChangeExample,
      answer: "One page, by fingerprint",
    },
    ({ id, page, read }) =>
      read(async (db) => {
        const found = await selectPresentFindings(db, id, page);
        if (found.length === 0) await selectMonitor(db, id);
        return found;
      }),
  );
}

/** As with an end: the same request again would find nothing new to publish. */
async function storeNewChanges(
  { read, write }: Pick<Access, "read" | "write">,
  monitorId: string,
  changes: readonly NewChange[],
): Promise<readonly NewChange[]> {
  try {
    return await write((db) => storeChanges(db, monitorId, changes));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const stored = await read((db) => selectStored(db, monitorId, changes));
    if (stored.length > 0) return stored;
    throw error;
  }
}
