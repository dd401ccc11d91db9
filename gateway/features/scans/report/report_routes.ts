import * as v from "valibot";
import { reportSchema } from "../../../../shared/schemas/report.ts";
import { count, uuid } from "../../../../shared/schemas/primitives.ts";
import { component, json, problem } from "../../../description/operation.ts";
import { accountOf } from "../../../http/budget.ts";
import type { Resource } from "../../../http/resource.ts";
import { openReport } from "./open_report.ts";
import { readReport } from "./read_report.ts";
import { selectPart, selectReport, storeReport, type ReportRow } from "./report_store.ts";

const StoredReport = component("StoredReport", v.object({ scan_id: uuid(), size_bytes: count }));
const Report = component("Report", reportSchema);

/** The finished report of a scan, as its scanner sent it. */
export function defineReportRoutes(scans: Resource): void {
  scans.on(
    "PUT /scans/:id/report",
    {
      allow: "publish",
      operationId: "storeReport",
      summary: "Store the finished report",
      description:
        "A `scanstream.report/1` of 32 MiB at most whose `scan.id` is the scan's, also after the scan has ended. It is stored " +
        "once: the same body again changes nothing, another one is refused.",
      body: { schema: Report, example: undefined, isReadByHandler: true },
      answers: {
        200: json(StoredReport, "Stored before, with the same body", { headers: ["ETag"] }),
        201: json(StoredReport, "Stored", {
          headers: ["ETag"],
          example: { scan_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", size_bytes: 48_213 },
        }),
        409: problem("A different report of this scan is stored"),
      },
    },
    async ({ c, id, read, write }) => {
      const report = await readReport(c.req.raw, id);
      const account = accountOf(c.req.raw);
      const { isNew } = await storeReport({ read, write: (work) => account.readLarge(() => write(work)) }, id, report);
      const { digest, sizeBytes } = report;
      return c.json({ scan_id: id, size_bytes: sizeBytes }, isNew ? 201 : 200, { etag: toEtag({ digest }) });
    },
  );

  scans.on(
    "GET /scans/:id/report",
    {
      allow: "read",
      operationId: "getReport",
      summary: "Read the finished report",
      description: "As it was sent, byte for byte. With its ETag in `If-None-Match`: 304.",
      answers: {
        200: json(Report, "The report", { headers: ["ETag"] }),
        304: { description: "Not modified: the client has this report", headers: ["ETag"] },
        404: problem("No such scan in this tenant, or no report was uploaded for it"),
      },
    },
    async ({ c, id, read }) => {
      const report = await read((db) => selectReport(db, id));
      const headers = { etag: toEtag(report), "cache-control": "private, no-cache" };
      if (isKnown(c.req.header("if-none-match"), headers.etag)) return c.body(null, 304, headers);
      const account = accountOf(c.req.raw);
      const body = await account.holdUntilRead(heldBytes, () =>
        openReport(report, (part) => account.readLarge(() => read((db) => selectPart(db, report, part)))),
      );
      return c.body(body, 200, { ...headers, "content-type": "application/json" });
    },
  );
}

/** A part and what it inflates to, in the gateway and on its way to a client that reads slowly. */
const heldBytes = 4 * 1_048_576;

function toEtag({ digest }: Pick<ReportRow, "digest">): string {
  return `"${digest}"`;
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2 */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}
