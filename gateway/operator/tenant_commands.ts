import { getTableName } from "drizzle-orm";
import * as v from "valibot";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { exportHeaderSchema } from "../../shared/schemas/tenant.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable } from "../../command_line/terminal.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { deleteInBatches } from "../features/delete_in_batches.ts";
import { exportTenant, type ExportPage } from "../features/tenant/export_tenant.ts";
import { exportedTables } from "../features/tenant/exported_tables.ts";
import { withAdmin } from "./call_admin.ts";
import { openExportedFile } from "./exported_file.ts";

type TenantIo = Pick<GatewayIo, "env" | "stdout" | "terminal">;
type Format = "text" | "json";

/** `admin tenant delete`: everything that the tenant has, in steps, and the tenant last. */
export async function deleteTenantCommand(
  { tenant, confirm, format }: { readonly tenant: string; readonly confirm: string; readonly format: Format },
  io: TenantIo,
): Promise<number> {
  await withAdmin(io.env, (run) =>
    deleteInBatches(
      (maxRows) => run("tenant.delete", { tenant, confirm, maxRows }) as Promise<{ readonly isGone: boolean }>,
      ({ isGone }) => isGone,
    ),
  );
  io.stdout(
    format === "json"
      ? `${toPrintableJson({ id: tenant, name: confirm, deleted: true }, 2)}\n`
      : `id: ${tenant}\nname: ${confirm}\ndeleted: true\n`,
  );
  return 0;
}

/** `admin tenant export`: the lines that `admin tenant import` reads. */
export async function exportTenantCommand({ tenant }: { readonly tenant: string }, io: TenantIo): Promise<number> {
  await withAdmin(io.env, async (run) => {
    const header = v.parse(exportHeaderSchema, await run("tenant.export-header", { tenant }));
    const lines = exportTenant(
      header,
      (request) => run("tenant.export-page", { tenant, ...request }) as Promise<ExportPage>,
    );
    for await (const text of lines) io.stdout(text);
  });
  return 0;
}

interface ImportFlags {
  readonly file: string;
  readonly name?: string;
  readonly intoExisting?: boolean;
  readonly format: Format;
}

/** `admin tenant import`: what is there already stays as it is. Exits with 1 where another tenant has what is in the file. */
export async function importTenantCommand(
  { file, name, intoExisting = false, format }: ImportFlags,
  io: TenantIo,
): Promise<number> {
  const exported = await openExportedFile(file, new Set(exportedTables.map(({ table }) => getTableName(table))));
  const header = { ...exported.header, ...(name === undefined ? {} : { name }) };
  const { tenant_id: tenant } = header;
  const created: Record<string, number> = {};
  const foreign: string[] = [];
  const stored = await withAdmin(io.env, async (run) => {
    const answer = (await run("tenant.import", { header, isIntoExisting: intoExisting })) as { readonly name: string };
    for await (const { table, rows } of exported.batches()) {
      const step = (await run("tenant.import-rows", { tenant, table, rows })) as {
        readonly created: number;
        readonly foreign: readonly string[];
      };
      created[table] = (created[table] ?? 0) + step.created;
      foreign.push(...step.foreign.map((key) => `${table} ${key}`));
    }
    return answer.name;
  });
  if (name !== undefined && stored !== name.trim()) {
    io.terminal.write("The tenant existed already and keeps its name; `admin tenant rename` changes it\n");
  }
  if (foreign.length > 0) {
    const shown = foreign.slice(0, maxShownKeys).map((key) => printable(key));
    const more = foreign.length > maxShownKeys ? `, and ${foreign.length - maxShownKeys} more` : "";
    io.terminal.write(`Not imported, because another tenant has them: ${shown.join(", ")}${more}\n`);
  }
  const exitCode = foreign.length > 0 ? exitCodes.findings : 0;
  const tables = exportedTables.map(({ table, isShownOnly = false }) => {
    const known = getTableName(table);
    return { name: known, in_file: exported.counts[known] ?? 0, created: created[known] ?? 0, isShownOnly };
  });
  if (format === "json") {
    const counts = tables.map(({ isShownOnly: _isShownOnly, ...counted }) => counted);
    io.stdout(`${toPrintableJson({ id: tenant, name: stored, tables: counts }, 2)}\n`);
    return exitCode;
  }
  io.stdout(`id: ${tenant}\nname: ${stored}\n`);
  for (const { name: known, in_file: count, created: added, isShownOnly } of tables) {
    const text = isShownOnly ? `${count} in the file were not imported: create new ones` : `${added} new of ${count}`;
    io.stdout(`${known}: ${text}\n`);
  }
  return exitCode;
}

const maxShownKeys = 20;
