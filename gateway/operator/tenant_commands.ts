import * as v from "valibot";
import type { GatewayIo } from "../../command_line/command_io.ts";
import { exportHeaderSchema } from "../../shared/schemas/tenant.ts";
import { exportTenant, type ExportPage } from "../features/tenant/export_tenant.ts";
import { withAdmin } from "./call_admin.ts";

type TenantIo = Pick<GatewayIo, "env" | "stdout">;

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
