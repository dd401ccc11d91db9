import { outcomeText } from "../../shared/outcome_text.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { categoryText } from "../../shared/severity.ts";
import type { ScanEvents } from "../../shared/schemas/scan.ts";
import { paintStatus, printable } from "../terminal.ts";
import { shorten } from "../../shared/text.ts";
import type { Resource } from "../gateway_api.ts";

type FieldName = { [Type in keyof ScanEvents]: keyof ScanEvents[Type] }[keyof ScanEvents];

/** One line for an event of a scan's stream. Its payload is unchecked: any key of the tenant may publish any type, with any fields. */
export function eventText(type: string, data: Resource, color: boolean): string {
  const field = (name: FieldName) => shown(data[name]);
  const status = () => statusText(data["reason"] === "not_applicable" ? "N/A" : data["status"], color);
  const rule = () => vulnIdOf(field("check"));
  switch (type) {
    case "scan.start":
      return `Scan ${field("scan_id")} started: ${field("checks_total")} checks`;
    case "scan.progress":
      return `[${field("checks_done")}/${field("checks_total")}] ${status()} ${rule()}`;
    case "finding.created":
      return `${status()}${data["waiver_reason"] ? " (waived)" : ""} ${rule()} ${categoryText(field("severity"))}: ${field("detail")}`;
    case "scan.error":
      return `${type} ${field("code")}: ${field("detail")}`;
    case "scan.end":
      return `Scan ${field("status")}: ${outcomeText(field)}`;
    default:
      return `${printable(type)} ${shown(data)}`;
  }
}

/**
 * The same for a tenant's stream, in which every event names its resource. Most have its id alone: the address of its organization is
 * kept from the events before.
 */
export function createTenantText(color: boolean): (type: string, data: Resource) => string {
  const orgUrls = new Map<unknown, unknown>();
  return (type, data) => {
    const id = data["monitor_id"] ?? data["scan_id"];
    // A decision names neither.
    const orgUrl = data["org_url"] ?? (id === undefined ? null : orgUrls.get(id));
    if (type === "scan.deleted" || type === "monitor.end") orgUrls.delete(id);
    else orgUrls.set(id, orgUrl);
    return tenantEventText(type, data, orgUrl ? ` of ${valueText(orgUrl)}` : "") ?? eventText(type, data, color);
  };
}

/** Null for an event of another feature. */
function tenantEventText(type: string, data: Resource, ofOrg: string): string | null {
  const field = (name: string) => shown(data[name]);
  const counts = () => outcomeText(field);
  const scan = () => `Scan ${field("scan_id")}${ofOrg}`;
  const monitor = () => `Monitor ${field("monitor_id")}${ofOrg}`;
  switch (type) {
    case "scan.created":
      return `${scan()} registered`;
    case "tenant.snapshot":
      return `Scans under way: ${field("count")}, monitors: ${field("monitors")}`;
    case "scan.snapshot":
    case "scan.updated":
      return `${scan()} ${field("status")}: ${field("checks_done")} of ${field("checks_total")} checks, ${counts()}`;
    case "scan.end":
      return `${scan()} ${field("status")}: ${counts()}`;
    case "scan.deleted":
      return `${scan()} deleted`;
    case "monitor.start":
      return `${monitor()} started`;
    case "monitor.snapshot":
    case "monitor.updated":
      return `${monitor()} ${field("status")}: ${counts()}${data["log_status"] === "unreadable" ? ", cannot read the System Log" : ""}`;
    case "monitor.error":
      return `${monitor()}: ${field("detail")}`;
    case "finding.updated":
      return `${verdictText(data, "from")} → ${verdictText(data, "to")} ${field("vuln_id")} ${field("cat")}: ${field("resource_name")}${ofOrg}${actorsText(data["actors"])}`;
    case "monitor.end":
      return `${monitor()} ended: ${field("reason")}`;
    case "organization.snapshot":
    case "organization.updated":
      return `Organization ${field("name")}: ${counts()}${data["unknown"] === 0 ? "" : `, ${field("unknown")} could not be read`}`;
    case "organization.deleted":
      return `Organization ${field("organization_id")} deleted`;
    case "decision.created":
    case "decision.updated":
      return `Decision ${field("state")}: ${field("status") || field("kind")} of ${vulnIdOf(field("check"))}${ofOrg}, by ${field("by")}: ${field("reason")}`;
    default:
      return null;
  }
}

function actorsText(actors: unknown): string {
  const names = new Set(Array.isArray(actors) ? actors.map(valueText) : []);
  return names.size === 0 ? "" : `, by ${[...names].join(", ")}`;
}

/** One side of a change. */
function verdictText(data: Resource, side: "from" | "to"): string {
  const [status, reason] = [shown(data[side]), valueText(data[`${side}_reason`])];
  const text = reason === "not_applicable" ? "N/A" : [status, reason].join(" ").trim();
  return `${text || "(none)"}${data[`${side}_waived`] === true ? " waived" : ""}`;
}

/** A field that is not there is seen. */
function shown(value: unknown): string {
  return value === undefined ? "?" : valueText(value);
}

const maxValueLength = 1000;

/** An unchecked value as one line that cannot steer the terminal. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "?");
  return printable(shorten(text, maxValueLength));
}

/** A verdict in its color. */
function statusText(status: unknown, color: boolean): string {
  const text = valueText(status).padEnd(6);
  return status === "PASS" || status === "FAIL" || status === "MANUAL" || status === "N/A"
    ? paintStatus(text, status, { color })
    : text;
}
