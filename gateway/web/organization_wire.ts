import type { RuleHistory } from "../../shared/schemas/history.ts";
import type { Organization } from "../../shared/schemas/organization.ts";
import type { Api, PageRequest } from "./model/api.ts";
import { parsePage, toRecord, toText, type Page } from "./scan_wire.ts";

export type { RuleHistory } from "../../shared/schemas/history.ts";
export type { Organization } from "../../shared/schemas/organization.ts";

/** Organizations and their history as the page uses them. Each rejects as `Api` does. */

const path = "api/v1/organizations";

export async function listOrganizations(api: Api, { limit, cursor, signal }: PageRequest): Promise<Page<Organization>> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
  return parsePage(await api.request("GET", `${path}?${query}`, { signal }), parseOrganization);
}

export async function readOrganization(api: Api, id: string, signal: AbortSignal): Promise<Organization> {
  return parseOrganization(await api.request("GET", `${path}/${encodeURIComponent(id)}`, { signal }));
}

/** Throws `TypeError` for an answer that is not an organization. */
function parseOrganization(value: unknown): Organization {
  const { id, org_url: url, trend } = toRecord(value);
  if (toText(id) === null || toText(url) === null || !Array.isArray(trend)) {
    throw new TypeError("Cannot read the answer: it is not an organization");
  }
  // The gateway has checked the rest.
  return value as Organization;
}

/** A year of 29 rules is one page; more are rules of the tenant's own. */
const maxHistoryPages = 5;

/** The days and exposures of each rule since a time. */
export async function readHistory(
  api: Api,
  id: string,
  { from, signal }: { readonly from: string; readonly signal: AbortSignal },
): Promise<readonly RuleHistory[]> {
  const rules: RuleHistory[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxHistoryPages; pages += 1) {
    const query: string = new URLSearchParams({
      from,
      resolution: "day",
      ...(cursor === null ? {} : { cursor }),
    }).toString();
    const answer = toRecord(await api.request("GET", `${path}/${encodeURIComponent(id)}/history?${query}`, { signal }));
    const organizations = answer["organizations"];
    if (!Array.isArray(organizations)) throw new TypeError("Cannot read the answer: it is not a history");
    rules.push(...organizations.flatMap((one) => (toRecord(one)["rules"] ?? []) as readonly RuleHistory[]));
    cursor = toText(answer["next_cursor"]);
    if (cursor === null) break;
  }
  return rules;
}
