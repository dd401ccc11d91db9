import {
  apiKeySchema,
  createdApiKeySchema,
  memberSchema,
  type ApiKey,
  type CreatedApiKey,
  type Member,
  type Role,
} from "../../shared/schemas/team.ts";
import type { Api, PageRequest } from "./model/api.ts";
import { parse, parsePage, type Page } from "./scan_wire.ts";

/** Members and API keys as the settings use them. Each rejects as `Api` does. */

const membersPath = "api/v1/members";
const keysPath = "api/v1/api-keys";

export interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

export async function listMembers(api: Api, request: PageRequest): Promise<Page<Member>> {
  return listPage(api, membersPath, request, (item) => parse(memberSchema, item, "a member"));
}

export async function addMember(api: Api, member: Pick<Member, "sub" | "role">, signal: AbortSignal): Promise<Member> {
  return parse(memberSchema, await api.request("POST", membersPath, { signal, body: member }), "a member");
}

export async function changeRole(
  api: Api,
  { sub, role }: { sub: string; role: Role },
  signal: AbortSignal,
): Promise<Member> {
  const path = `${membersPath}/${encodeURIComponent(sub)}`;
  return parse(memberSchema, await api.request("PATCH", path, { signal, body: { role } }), "a member");
}

export async function removeMember(api: Api, sub: string, signal: AbortSignal): Promise<void> {
  await api.request("DELETE", `${membersPath}/${encodeURIComponent(sub)}`, { signal });
}

export async function listKeys(api: Api, request: PageRequest): Promise<Page<ApiKey>> {
  return listPage(api, keysPath, request, (item) => parse(apiKeySchema, item, "an API key"));
}

export async function createKey(api: Api, key: KeyRequest, signal: AbortSignal): Promise<CreatedApiKey> {
  return parse(createdApiKeySchema, await api.request("POST", keysPath, { signal, body: key }), "an API key");
}

export async function revokeKey(api: Api, id: string, signal: AbortSignal): Promise<void> {
  await api.request("DELETE", `${keysPath}/${encodeURIComponent(id)}`, { signal });
}

async function listPage<Item>(
  api: Api,
  path: string,
  { limit, cursor, signal }: PageRequest,
  parseItem: (item: unknown) => Item,
): Promise<Page<Item>> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
  return parsePage(await api.request("GET", `${path}?${query}`, { signal }), parseItem);
}
