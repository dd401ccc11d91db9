import type { RunOperation } from "./call_admin.ts";

/** An embedded database without a tenant gets one, and a key that is shown this once; null where there is a tenant. */
export async function createFirstKey(run: RunOperation): Promise<string | null> {
  const tenants = (await run("tenant.list", {})) as readonly unknown[];
  if (tenants.length > 0) return null;
  const { id: tenant } = (await run("tenant.create", { name: "First tenant" })) as { readonly id: string };
  const key = { tenant, name: "first key", scopes: "read,publish,admin" };
  return ((await run("api-key.create", key)) as { readonly api_key: string }).api_key;
}
