import type { Finding, ReportedOrgPolicy } from "../../shared/report.ts";
import type { Output } from "../../shared/schemas/primitives.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import type { orgPolicySchemaOf } from "./schema.ts";

/** The organization's document. */
export type OrgPolicy = Output<ReturnType<typeof orgPolicySchemaOf>>;

type EntryOf<Name extends "session_policies" | "apps" | "api_tokens"> = NonNullable<OrgPolicy[Name]>[number];
export type AppEntry = EntryOf<"apps">;
export type ApiTokenEntry = EntryOf<"api_tokens">;
/** Names of network zones. */
export type ZoneLists = Pick<EntryOf<"session_policies">, "zones_allowed" | "zones_denied">;

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

/** True for a finding that departs from the document: it expects the words of the document, at whose end the citation stands. */
export function isDeparture({ status, expected, rests_on: cited }: Finding): boolean {
  return status === "FAIL" && cited !== undefined && expected.endsWith(" says");
}

/** The document as a report names it. */
export function reportedOrgPolicy(policy: OrgPolicy, at: string, digest: (text: string) => string): ReportedOrgPolicy {
  const { reference, approved_by, approved_on, expires } = policy;
  const sha256 = digest(JSON.stringify(policy));
  return { reference, approved_by, approved_on, expires, standing: standingOf(policy, at), sha256 };
}
