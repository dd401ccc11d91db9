import { toRecord, toText } from "../scan_wire.ts";
import { ApiError, type Api } from "./api.ts";

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** Null: what has ended is kept. */
  readonly retentionDays: number | null;
}

const path = "api/v1/tenant";

export async function readTenant(api: Api, signal: AbortSignal): Promise<Tenant> {
  return parseTenant(await api.request("GET", path, { signal }));
}

export async function renameTenant(api: Api, name: string, signal: AbortSignal): Promise<Tenant> {
  return parseTenant(await api.request("PATCH", path, { signal, body: { name } }));
}

/** `name` is the tenant's, which confirms it. */
export async function removeTenant(api: Api, name: string, signal: AbortSignal): Promise<void> {
  await api.request("DELETE", path, { signal, body: { name } });
}

/** Rejects with `ApiError` where it was cut. */
export async function readExport(
  api: Api,
  tenantId: string,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly file: Blob }> {
  const response = await api.fetchStream(new URL(`${path}/export`, document.baseURI), { signal });
  if (!response.ok) throw new ApiError(response.status, `the gateway answered with status ${response.status}`);
  const file = await response.blob().catch((cause: unknown) => {
    throw new ApiError(0, "the answer was cut", { cause });
  });
  const end = await file.slice(Math.max(0, file.size - 4096)).text();
  if (!/\n\{"end":true,[^\n]*\}\n$/.test(end)) throw new ApiError(0, "the answer was cut");
  return { name: `tenant-${tenantId}.ndjson`, file };
}

function parseTenant(value: unknown): Tenant {
  const { id, name, created_at: createdAt, retention_days: days } = toRecord(value);
  return {
    id: toText(id) ?? "",
    name: toText(name) ?? "",
    createdAtMs: Date.parse(toText(createdAt) ?? ""),
    retentionDays: typeof days === "number" ? days : null,
  };
}
