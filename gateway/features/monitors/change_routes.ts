import { changeSchema } from "../../../shared/schemas/change.ts";
import { component } from "../../description/operation.ts";
import type { List } from "../../http/paging.ts";
import { textParameter } from "../../http/query_parameter.ts";
import type { Resource } from "../../http/resource.ts";
import { checkParameter } from "../check_parameter.ts";
import { selectChanges, selectPresentFindings } from "./change_store.ts";
import { storedChangeExample } from "./examples.ts";
import { toChange, type ChangeRow } from "./monitor.ts";
import { selectMonitor } from "./monitor_store.ts";

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

/** How the verdicts of a monitor moved, and what they are. */
export function defineChangeRoutes(resource: Resource): void {
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
