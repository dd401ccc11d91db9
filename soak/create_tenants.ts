import type { Surroundings } from "./surroundings.ts";
import type { SoakScan, SoakTenant, Work } from "./work.ts";

const scansPerTenant = 2;

/** Tenants with a member, a key and scans, registered as producers do. */
export async function createTenants(
  surroundings: Surroundings,
  gatewayUrl: string,
  names: readonly string[],
): Promise<Pick<Work, "tenants" | "crowded" | "torrent">> {
  const tenants = await Promise.all(names.map((name) => createTenant(surroundings, gatewayUrl, name)));
  const crowded = await createTenant(surroundings, gatewayUrl, "Crowd");
  const [owner = crowded] = tenants;
  return { tenants, crowded, torrent: await createScan(gatewayUrl, owner) };
}

async function createTenant({ admin }: Surroundings, gatewayUrl: string, name: string): Promise<SoakTenant> {
  const { id } = (await admin("tenant.create", { name })) as { readonly id: string };
  await admin("user.create", { tenant: id, sub: "ann" });
  const key = (await admin("api-key.create", { tenant: id, name: "soak" })) as { readonly api_key: string };
  const tenant = { id, apiKey: key.api_key };
  const scans = await Promise.all(Array.from({ length: scansPerTenant }, () => createScan(gatewayUrl, tenant)));
  return { ...tenant, scans };
}

async function createScan(gatewayUrl: string, tenant: SoakScan["tenant"]): Promise<SoakScan> {
  const response = await fetch(new URL("/api/v1/scans", gatewayUrl), {
    method: "POST",
    headers: { authorization: `Api-Key ${tenant.apiKey}` },
  });
  if (response.status !== 201) throw new Error(`Cannot create a scan: ${response.status} ${await response.text()}`);
  const { id, channel } = (await response.json()) as { readonly id: string; readonly channel: string };
  return { id, tenant, channel: { name: channel, scanId: id, next: 0 } };
}
