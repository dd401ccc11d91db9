import { eq, sql } from "drizzle-orm";
import * as v from "valibot";
import { scanReports } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { sha256Hex } from "../../auth/sha256.ts";
import { count, uuid } from "../../../shared/schemas/primitives.ts";
import { maxStoredReportBytes, reportSchema } from "../../../shared/schemas/report.ts";
import { component, headers, json, problem } from "../../description/operation.ts";
import { readBytes } from "../../http/body.ts";
import { accountOf } from "../../limits.ts";
import { pulledStream } from "../../http/pulled_stream.ts";
import type { Resource } from "../../http/resource.ts";
import { scanStore } from "./store.ts";

const StoredReport = component("StoredReport", v.object({ scan_id: uuid(), size_bytes: count }));
const Report = component("Report", reportSchema);

/** The finished report of a scan, as its scanner sent it: the gateway never looks into it, its reader does. */
export function defineReportRoutes(scans: Resource): void {
  scans.on("PUT /scans/:id/report", "storeReport", {
    allow: "publish",
    summary: "Store the finished report",
    description:
      "A `scanstream.report/1` with `Content-Encoding: gzip`, of 8 MiB at most, also after the scan has ended. It is stored " +
      "once: the same body again changes nothing, another one is refused. Only its reader checks what is in it.",
    body: { schema: Report, example: undefined, isReadByHandler: true },
    answers: {
      200: json(StoredReport, "Stored before, with the same body", ["ETag"]),
      201: json(StoredReport, "Stored", ["ETag"]),
      409: problem("A different report of this scan is stored"),
      415: problem("Not compressed with gzip", ["Accept-Encoding"]),
    },
    handle: async ({ c, id, write }) => {
      const report = await readReport(c.req.raw);
      const { isNew } = await write((db) => storeReport(db, id, report));
      const stored = { scan_id: id, size_bytes: report.body.length };
      return c.json(stored, isNew ? 201 : 200, { etag: `"${report.sha256}"` });
    },
  });

  scans.on("GET /scans/:id/report", "getReport", {
    allow: "read",
    summary: "Read the finished report",
    description:
      "As it was sent, with `Content-Encoding: gzip`; decompressed for a client whose `Accept-Encoding` has no gzip. With its " +
      "ETag in `If-None-Match`: 304.",
    answers: {
      200: json(Report, "The report", ["ETag"]),
      304: { description: "Not modified: the client has this report", headers: headers("ETag") },
      404: problem("No such scan in this tenant, or no report was uploaded for it"),
    },
    handle: async ({ c, id, read }) => {
      const isGzip = acceptsGzip(c.req.header("accept-encoding"));
      const { sha256, sizeBytes } = await read((db) => selectStored(db, id));
      const strong = `"${sha256}"`;
      const headers = {
        // The digest is the compressed body's.
        etag: isGzip ? strong : `W/${strong}`,
        "cache-control": "private, no-cache",
        vary: "accept-encoding",
      };
      if (isKnown(c.req.header("if-none-match"), strong)) return c.body(null, 304, headers);
      const account = accountOf(c.req.raw);
      account.takeAnswer(isGzip ? heldBytes : 4 * heldBytes);
      const pieces = piecesOf(sizeBytes, (offset) => read((db) => selectPiece(db, id, offset)));
      const stored = pulledStream(pieces, account, isGzip ? pieceBytes : inflatedAtOnceBytes);
      const body = isGzip ? stored : stored.pipeThrough(new DecompressionStream("gzip"));
      const init = {
        headers: { ...headers, "content-type": "application/json", ...(isGzip && { "content-encoding": "gzip" }) },
        // Workers compress once more unless told that it is done. https://developers.cloudflare.com/workers/runtime-apis/response/
        encodeBody: isGzip ? "manual" : "automatic",
      };
      return new Response(body, init);
    },
  });
}

/** Read from the database when the client has taken the piece before. */
const pieceBytes = 256 * 1024;
/** A piece, and its text from the database, which is twice as long. */
const heldBytes = 1_048_576;
/**
 * They may inflate to a thousand times as much before the next are asked for, and on Deno everybody waits for that: 6 ms. Pieces of 512
 * bytes take two to four times the CPU time.
 */
const inflatedAtOnceBytes = 2048;

async function* piecesOf(sizeBytes: number, read: (offset: number) => Promise<Uint8Array<ArrayBuffer>>) {
  for (let offset = 0; offset < sizeBytes; offset += pieceBytes) yield await read(offset);
}

/** Gzip, and its digest in hexadecimal digits. Rejects with `AppError` `unsupported_media_type`, `too_large` or `malformed`. */
async function readReport(request: Request) {
  if (request.headers.get("content-encoding")?.trim().toLowerCase() !== "gzip") {
    throw new AppError("unsupported_media_type", "The report is not compressed: send it with Content-Encoding: gzip", {
      headers: { "accept-encoding": "gzip" },
    });
  }
  const body = await readBytes(request, maxStoredReportBytes);
  // https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1
  if (body[0] !== 0x1f || body[1] !== 0x8b)
    throw new AppError("malformed", "The body is not gzip: expected 1f 8b first");
  return { body, sha256: await sha256Hex(body) };
}

/** Without the header a client takes any. https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
function acceptsGzip(acceptEncoding = "*"): boolean {
  return /(?:^|,)\s*(?:x-)?(?:gzip|\*)\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i.test(acceptEncoding);
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2 */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(etag);
}

/** Stores the report of a scan, once. Rejects with `NotFound`, or with `AppError("conflict")` where another report is stored. */
async function storeReport(
  db: TenantDatabase,
  scanId: string,
  { body, sha256 }: Awaited<ReturnType<typeof readReport>>,
): Promise<{ readonly isNew: boolean }> {
  const { rows } = await db.execute(sql`
    insert into scan_reports (tenant_id, scan_id, body, sha256, size_bytes)
    select tenant_id, id, ${body}::bytea, ${sha256}, ${body.length}::integer
    from runs where kind = 'scan' and id = ${scanId}::uuid for key share
    on conflict do nothing returning scan_id`);
  if (rows.length > 0) return { isNew: true };
  if ((await selectStored(db, scanId)).sha256 === sha256) return { isNew: false };
  throw new AppError("conflict", "A different report of this scan is stored already: delete the scan to replace it");
}

/** Rejects with `NotFound`. */
async function selectStored(db: TenantDatabase, scanId: string) {
  const { sha256, sizeBytes } = scanReports;
  const [row] = await db.select({ sha256, sizeBytes }).from(scanReports).where(eq(scanReports.scanId, scanId));
  if (row !== undefined) return row;
  await scanStore.select(db, scanId);
  throw noReport();
}

/** Gzip, from this byte on. Rejects with `NotFound` if it was deleted in the meantime. */
async function selectPiece(db: TenantDatabase, scanId: string, offset: number): Promise<Uint8Array<ArrayBuffer>> {
  const { rows } = await db.execute<{ body: Uint8Array<ArrayBuffer> }>(
    sql`select substring(body from ${offset + 1}::integer for ${pieceBytes}::integer) as body
      from scan_reports where scan_id = ${scanId}::uuid`,
  );
  const [row] = rows;
  if (row === undefined) throw noReport();
  return row.body;
}

function noReport(): NotFound {
  return new NotFound("No report was uploaded for this scan");
}
