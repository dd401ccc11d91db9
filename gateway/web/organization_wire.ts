import type { RuleHistory } from "../../shared/schemas/history.ts";
import type { Organization as Row } from "../../shared/schemas/organization.ts";
import type { Api, PageRequest } from "./model/api.ts";
import { parsePage, toRecord, toText, type Page } from "./scan_wire.ts";

export type { RuleHistory } from "../../shared/schemas/history.ts";

/** Trend: null where it is not read yet. */
export type Organization = Omit<Row, "trend"> & { readonly trend: Row["trend"] | null };

/** Organizations and their history as the page uses them. Each rejects as `Api` does. */

const path = "api/v1/organizations";

export async function listOrganizations(api: Api, { limit, cursor, signal }: PageRequest): Promise<Page<Organization>> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
  return parsePage(await api.request("GET", `${path}?${query}`, { signal }), parseOrganization);
}

/** A row, or what an event says of one. Throws `TypeError` for what is not an organization. */
export function parseOrganization(value: unknown): Organization {
  const { id, org_url: url, trend } = toRecord(value);
  if (toText(id) === null || toText(url) === null) {
    throw new TypeError("Cannot read the answer: it is not an organization");
  }
  // The gateway has checked the rest, and nobody else publishes on its tenant's channel.
  const row = value as Row;
  return { ...row, trend: Array.isArray(trend) ? row.trend : null };
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
