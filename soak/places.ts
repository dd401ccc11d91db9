import { finish, open, type Opened } from "./streams.ts";
import { complain, pick, type SoakTenant, type Work } from "./work.ts";

/**
 * Every place that was ever taken is free again: all tenants together can have as many streams as each of them may, which
 * is as many as the gateway may, and not one more.
 */
export async function requireAllPlaces(work: Work): Promise<void> {
  const tenants = [...work.tenants, work.crowded];
  const opened: Opened[] = [];
  for (const tenant of tenants) {
    const asked = Array.from({ length: work.maxStreamsPerTenant }, () => openOne(work, tenant));
    const got = (await Promise.all(asked)).filter((one) => one !== null);
    if (got.length < work.maxStreamsPerTenant) {
      complain(
        work,
        `a tenant that may have ${work.maxStreamsPerTenant} streams got ${got.length} after every client had left`,
      );
    }
    opened.push(...got);
  }
  for (const tenant of tenants) if ((await openOne(work, tenant)) !== null) complain(work, "a stream over every bound");
  await Promise.all(opened.map((one) => finish(work, one)));
}

async function openOne(work: Work, tenant: SoakTenant): Promise<Opened | null> {
  return open(work, pick(tenant.scans), { authorization: `Api-Key ${tenant.apiKey}`, query: "" }, [429]);
}
