import * as v from "valibot";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { exportHeaderSchema } from "../../shared/schemas/tenant.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { deleteInBatches } from "../features/delete_in_batches.ts";
import { exportTenant, type ExportPage } from "../features/tenant/export_tenant.ts";
import { withAdmin } from "./call_admin.ts";

type TenantIo = Pick<GatewayIo, "env" | "stdout">;
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

/** `admin tenant export` */
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
