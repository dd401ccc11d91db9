import {
  organizationExposureSchema,
  type Organization,
  type OrganizationExposure,
} from "../../shared/schemas/organization.ts";
import type { Api, PageRequest } from "./model/api.ts";
import { parse, parsePage, toRecord, toText, type Page } from "./scan_wire.ts";

export type { Organization, OrganizationExposure } from "../../shared/schemas/organization.ts";

/** Organizations and their exposures as the page uses them. Each rejects as `Api` does. */

const path = "api/v1/organizations";

export async function listOrganizations(api: Api, { limit, cursor, signal }: PageRequest): Promise<Page<Organization>> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
  return parsePage(await api.request("GET", `${path}?${query}`, { signal }), parseOrganization);
}

/** A row, or what an event says of one. Throws `TypeError` for what is not an organization. */
export function parseOrganization(value: unknown): Organization {
  const { id, org_url: url } = toRecord(value);
  if (toText(id) === null || toText(url) === null) {
    throw new TypeError("Cannot read the answer: it is not an organization");
  }
  // The gateway has checked the rest, and nobody else publishes on its tenant's channel.
  return value as Organization;
}

/** The exposures that have not ended. */
export async function listOpenExposures(
  api: Api,
  id: string,
  signal: AbortSignal,
): Promise<readonly OrganizationExposure[]> {
  const answer = await api.request("GET", `${path}/${encodeURIComponent(id)}/exposures?open=true&limit=200`, {
    signal,
  });
  return parsePage(answer, (item) => parse(organizationExposureSchema, item, "an exposure")).items;
}
