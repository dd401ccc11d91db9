import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as v from "valibot";
import { readProblem } from "../../shared/error_code.ts";
import { isJsonObject, parseJsonObject, type JsonObject } from "../../shared/json.ts";
import { exportEndSchema, exportHeaderSchema, type ExportHeader } from "../../shared/schemas/tenant.ts";
import { UsageError } from "../../shared/usage_error.ts";

/** The file of an exported tenant that was read to its end and is whole. */
export interface ExportedFile {
  readonly header: ExportHeader;
  /** How many rows each table has. */
  readonly counts: Readonly<Record<string, number>>;
  /** Reads it once more, a batch of one table at a time. */
  batches(): AsyncGenerator<RowBatch>;
}

export interface RowBatch {
  readonly table: string;
  readonly rows: readonly JsonObject[];
}

const maxBatchRows = 500;
const maxBatchLength = 4 * 1024 * 1024;

/** Reads the whole file before the first row is used. Rejects with `UsageError` for one that was cut, or is invalid. */
export async function openExportedFile(path: string, knownTables: ReadonlySet<string>): Promise<ExportedFile> {
  let header: ExportHeader | null = null;
  let end: v.InferOutput<typeof exportEndSchema> | null = null;
  const counts: Record<string, number> = {};
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    const value = parseJsonObject(line);
    const wrong = (expected: string) => problem(path, `line ${number}: expected ${expected}`);
    if (header === null) {
      const parsed = v.safeParse(exportHeaderSchema, value);
      if (!parsed.success) throw wrong('the header of an exported tenant, {"schema":"scanstream.export/1",…}');
      header = parsed.output;
      continue;
    }
    if (end !== null) throw wrong("nothing after the last line");
    if (v.is(exportEndSchema, value)) {
      end = value;
      continue;
    }
    const row = toRow(value, header.tenant_id);
    if (row === null) throw wrong('a row of the tenant, {"table":…,"row":{"tenant_id":…}}');
    if (!knownTables.has(row.table)) {
      throw wrong(`a table of this version, not ${JSON.stringify(row.table)}: import it into a newer scanstream`);
    }
    counts[row.table] = (counts[row.table] ?? 0) + 1;
  }
  if (header === null) throw problem(path, "it is empty: expected an exported tenant");
  if (end === null) throw problem(path, "its last line is missing: the export was cut, and nothing was imported");
  for (const [table, count] of Object.entries(end.rows)) {
    const found = counts[table] ?? 0;
    if (found !== count) throw problem(path, `it has ${found} rows of ${table} where its last line says ${count}`);
  }
  const { tenant_id: tenantId } = header;
  return { header, counts, batches: () => batchesOf(path, tenantId) };
}

async function* batchesOf(path: string, tenantId: string): AsyncGenerator<RowBatch> {
  let table = "";
  let rows: JsonObject[] = [];
  let length = 0;
  for await (const line of linesOf(path)) {
    const row = toRow(parseJsonObject(line), tenantId);
    if (row === null) continue;
    if (
      rows.length > 0 &&
      (row.table !== table || rows.length >= maxBatchRows || length + line.length > maxBatchLength)
    ) {
      yield { table, rows };
      rows = [];
      length = 0;
    }
    table = row.table;
    rows.push(row.row);
    length += line.length;
  }
  if (rows.length > 0) yield { table, rows };
}

function toRow(
  value: JsonObject | null,
  tenantId: string,
): { readonly table: string; readonly row: JsonObject } | null {
  const { table, row } = value ?? {};
  return typeof table === "string" && isJsonObject(row) && row["tenant_id"] === tenantId ? { table, row } : null;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path);
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const text = readProblem(error);
    if (text === null) throw error;
    throw problem(path, text);
  } finally {
    input.destroy();
  }
}

function problem(path: string, text: string): UsageError {
  return new UsageError([`Cannot read ${JSON.stringify(path)}: ${text}`]);
}
