import type { JsonObject } from "../../shared/json.ts";
import { lifecycleLink, link, oktaId } from "./ids_and_links.ts";
import type { Resource, Site } from "./org_contents.ts";

const created = "2026-01-06T09:20:55.000Z";
const lastUpdated = "2026-02-17T14:15:10.000Z";

export interface ZoneSpec {
  readonly name: string;
  readonly type: "IP" | "DYNAMIC" | "DYNAMIC_V2";
  readonly usage: "POLICY" | "BLOCKLIST";
  readonly status?: "ACTIVE" | "INACTIVE";
  readonly system?: boolean;
  /** Fields of this type of zone only: gateways and proxies, or locations, categories and networks. */
  readonly fields: JsonObject;
}

export function zoneId(name: string): string {
  return oktaId("nzo", name);
}

/** A zone of any type. */
export function zoneObject(site: Site, spec: ZoneSpec): Resource {
  const id = zoneId(spec.name);
  const href = `${site.url}/api/v1/zones/${id}`;
  const status = spec.status ?? "ACTIVE";
  return {
    type: spec.type,
    id,
    name: spec.name,
    status,
    usage: spec.usage,
    created,
    lastUpdated,
    system: spec.system ?? false,
    ...spec.fields,
    _links: { self: link(href, "GET", "PUT", "DELETE"), ...lifecycleLink(href, status) },
  };
}

export function ipZone(site: Site, name: string, cidrs: readonly string[], spec: Partial<ZoneSpec> = {}): Resource {
  return zoneObject(site, {
    name,
    type: "IP",
    usage: "POLICY",
    ...spec,
    fields: { gateways: cidrs.map((value) => ({ type: "CIDR", value })), proxies: null },
  });
}

/** The four zones that every org starts with. The enhanced one is the STIG's "Enhanced dynamic zone blocklist". */
export function builtInZones(site: Site, enhancedBlocklist: "ACTIVE" | "INACTIVE"): readonly Resource[] {
  const unset = { gateways: null, proxies: null };
  return [
    zoneObject(site, { name: "BlockedIpZone", type: "IP", usage: "BLOCKLIST", system: true, fields: unset }),
    zoneObject(site, {
      name: "DefaultEnhancedDynamicZone",
      type: "DYNAMIC_V2",
      usage: "BLOCKLIST",
      status: enhancedBlocklist,
      system: true,
      fields: {
        locations: { include: [], exclude: [] },
        ipServiceCategories: { include: ["ALL_ANONYMIZERS"], exclude: [] },
        asns: { include: [], exclude: [] },
      },
    }),
    zoneObject(site, { name: "DefaultExemptIpZone", type: "IP", usage: "POLICY", system: true, fields: unset }),
    zoneObject(site, { name: "LegacyIpZone", type: "IP", usage: "POLICY", system: true, fields: unset }),
  ];
}
