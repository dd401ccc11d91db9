import type { ReportedOrgPolicy } from "../../shared/report.ts";
import type { ParameterValues } from "../checks/parameter.ts";

/** The organization's Access Control policy as data: what DISA's rules compare an org with, and no API shows. */
export interface OrgPolicy {
  readonly format: typeof orgPolicyFormat;
  /** The org that it is about, as an origin. */
  readonly org_url: string;
  /** The person who signed it. A document without a name is refused. */
  readonly approved_by: string;
  /** Days, such as `2026-11-01`: both are included. */
  readonly approved_on: string;
  readonly expires: string;
  /** The title or number, and the version, of the document that this file repeats. */
  readonly reference: string;
  /** The organization's values in place of the STIG's. */
  readonly limits?: ParameterValues;
  readonly session_policies?: readonly SessionPolicyEntry[];
  readonly apps?: readonly AppEntry[];
  readonly api_tokens?: readonly ApiTokenEntry[];
  /** `okta_managed`: Okta's own list is the approved one. */
  readonly anonymizers?: "okta_managed" | ApprovedRanges;
  readonly certificate_authorities?: readonly CertificateAuthority[];
  /** Source of the accounts of people. */
  readonly user_sourcing?: "okta" | "directory" | "both";
  readonly okta_subdomain?: { readonly use: "not_used"; readonly prevented_by: string };
  readonly siem?: { readonly method: string; readonly client_id: string };
}

export const orgPolicyFormat = "scanstream.org_policy/1";

/** Names of network zones. */
export interface ZoneLists {
  readonly zones_allowed?: readonly string[];
  readonly zones_denied?: readonly string[];
}

export interface SessionPolicyEntry extends ZoneLists {
  /** The name of a global session policy; `*`: every other one. */
  readonly policy: string;
}

/** Names an app by its label, else by its authentication policy, else `*` in place of the label. */
export interface AppEntry extends ZoneLists {
  readonly app?: string;
  readonly policy?: string;
}

export interface ApiTokenEntry {
  readonly token: string;
  /** The login of the account that it was made for. */
  readonly owner: string;
  /** The names of the roles that this account holds. */
  readonly roles: readonly string[];
  readonly zones: readonly string[];
  readonly purpose: string;
}

export interface ApprovedRanges {
  readonly ranges: readonly string[];
  /** The list of the CSSP, and its day. */
  readonly source: string;
  readonly date: string;
}

export interface CertificateAuthority {
  /** In hex, of the whole certificate. */
  readonly sha256: string;
  readonly name: string;
}

/** A document that is not in force decides nothing. */
export type Standing = "in_force" | "expired" | "not_in_force_yet";

/** `at`: ISO 8601 in UTC. */
export function standingOf({ approved_on: from, expires }: OrgPolicy, at: string): Standing {
  const day = at.slice(0, 10);
  if (day < from) return "not_in_force_yet";
  return day > expires ? "expired" : "in_force";
}

/** Values that the organization sets itself. */
export interface OwnValues {
  /** In place of the STIG's values. */
  readonly parameters?: ParameterValues;
  /** Its document, where it is in force. */
  readonly orgPolicy?: OrgPolicy;
}

/** Returns what counts at a time: the document and its limits while it is in force, else nothing. */
export function ownValues(policy: OrgPolicy | null, at: string): OwnValues {
  if (policy === null || standingOf(policy, at) !== "in_force") return {};
  return { orgPolicy: policy, parameters: policy.limits ?? {} };
}

/** Names a document as a finding quotes it: `"AC policy for Okta, v3" (approved by Jane Roe on 2026-11-01)`. */
export function citationOf({ reference, approved_by: by, approved_on: on }: OrgPolicy): string {
  return `"${reference}" (approved by ${by} on ${on})`;
}

/** Names the document that decided a finding, for whoever has only the finding. */
export function restsOn(policy: OrgPolicy): string {
  return `${citationOf(policy)}, in force until ${policy.expires}`;
}

/** The document as a report names it. */
export function reportedOrgPolicy(policy: OrgPolicy, at: string, digest: (text: string) => string): ReportedOrgPolicy {
  const { reference, approved_by, approved_on, expires } = policy;
  const sha256 = digest(JSON.stringify(policy));
  return { reference, approved_by, approved_on, expires, standing: standingOf(policy, at), sha256 };
}
