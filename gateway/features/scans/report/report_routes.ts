import { Hono } from "hono";
import { withPrincipal } from "../../../auth/membership.ts";
import type { AllowedPrincipal } from "../../../auth/principal.ts";
import { createAllow, type Allowed } from "../../../http/allow.ts";
import { accountOf, type RequestAccount } from "../../../http/budget.ts";
import type { Dependencies } from "../../../http/dependencies.ts";
import { pathId } from "../../../http/path_id.ts";
import { readReport } from "./read_report.ts";
import { selectPart, selectReport, storeReport, type ReportRow } from "./report_store.ts";

/** The finished report of a scan, as its scanner sent it. */
export function reportRoutes(dependencies: Pick<Dependencies, "authenticator" | "database">): Hono<Allowed> {
  const { database } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();

  routes.put("/scans/:id/report", allow("publish"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const report = await readReport(c.req.raw, scanId);
    const { isNew } = await withPrincipal(database, principal, (db) => storeReport(db, scanId, report));
    const { digest, sizeBytes } = report;
    return c.json({ scan_id: scanId, size_bytes: sizeBytes }, isNew ? 201 : 200, { etag: toEtag({ digest }) });
  });

  routes.get("/scans/:id/report", allow("read"), async (c) => {
    const principal = c.get("principal");
    const scanId = pathId(c, "scan");
    const report = await withPrincipal(database, principal, (db) => selectReport(db, scanId));
    const headers = { etag: toEtag(report), "cache-control": "private, no-cache" };
    if (isKnown(c.req.header("if-none-match"), headers.etag)) return c.body(null, 304, headers);
    const account = accountOf(c.req.raw);
    const body = await account.holdUntilRead(heldBytes, () => openReport(principal, report, account));
    return c.body(body, 200, { ...headers, "content-type": "application/json" });
  });

  return routes;

  /** One part in memory at a time. The first is read at once, so that an outage is a separate answer. */
  async function openReport(
    principal: AllowedPrincipal,
    report: ReportRow,
    account: RequestAccount,
  ): Promise<ReadableStream<Uint8Array>> {
    const read = (part: number) =>
      account.readLarge(() => withPrincipal(database, principal, (db) => selectPart(db, report, part)));
    let next: Uint8Array<ArrayBuffer> | null = await read(0);
    let part = 0;
    const compressed = new ReadableStream<BufferSource>({
      // What fails here breaks the answer off: no client takes half a report for a whole one.
      async pull(controller) {
        controller.enqueue(next ?? (await read(part)));
        next = null;
        part += 1;
        if (part >= report.partCount) controller.close();
      },
    });
    return compressed.pipeThrough(new DecompressionStream("gzip")).pipeThrough(atMost(report.sizeBytes));
  }
}

/** What was imported may inflate to more than it says. */
function atMost(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.byteLength;
      if (length > maxBytes) controller.error(new RangeError("A stored report is larger than it says"));
      else controller.enqueue(chunk);
    },
  });
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
