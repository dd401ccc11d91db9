/**
 * The report of one scan, schema `scanstream.report/1`: the value that every report format is written from.
 * Field names are the wire's (snake_case); `report.schema.json` beside this file is the same as a JSON Schema.
 */
export type Status = "PASS" | "FAIL" | "MANUAL";
export type Severity = "high" | "medium" | "low";
export type Category = "I" | "II" | "III";
export type Engine = "identity" | "classic" | "unknown";
export type Role = "super_admin" | "read_only_admin" | "unknown";
export type ScanStatus = "completed" | "cancelled" | "failed";
export type FindingChange = "new" | "unchanged" | "resolved";

/** Why a verdict could not be given; set with MANUAL and only then. */
export type ManualReason =
  | "missing_scope"
  | "missing_role"
  | "not_available"
  | "provider_error"
  | "unreadable"
  | "not_applicable"
  | "needs_review";

/** Why a person accepted a finding for a time; it changes the exit code, never the status. */
export interface Waiver {
  readonly reason: string;
  /** ISO 8601 date or time after which the waiver no longer holds; null: no end was set. */
  readonly expires: string | null;
}

/** What a person vouches for where the API cannot tell, or tells only half. */
export interface Attestation {
  readonly status: "PASS" | "FAIL" | "NOT_APPLICABLE";
  readonly reason: string;
  readonly by: string;
  readonly expires: string | null;
}

export interface FindingResource {
  /** What kind of thing was examined: `policy`, `app`, `api_token`, `org`, … */
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

export interface Finding {
  readonly status: Status;
  readonly reason: ManualReason | null;
  readonly resource: FindingResource;
  readonly expected: string;
  readonly actual: string;
  /** One sentence that names the resource, what was expected and what was found. */
  readonly detail: string;
  /** Stable over runs: the same check, resource and org give the same value. */
  readonly fingerprint: string;
  readonly waived: boolean;
  /** The waiver in force; null when `waived` is false. */
  readonly waiver: Waiver | null;
  /** Against a baseline report; null without one. */
  readonly change: FindingChange | null;
  /** `partial`: a PASS that is narrower than its rule. */
  readonly coverage: Coverage;
  /** What of the rule a partial PASS leaves to a person, in one sentence; null with full coverage. */
  readonly coverage_reason: string | null;
  /** Said beside a verdict that stands without it: it does not count for the check's status, nor for an exit code. */
  readonly advisory: boolean;
}

export type Coverage = "full" | "partial";

export interface CheckResult {
  readonly check: string;
  readonly vuln_id: string;
  readonly stig_id: string;
  readonly rule_id: string;
  readonly severity: Severity;
  readonly category: Category;
  readonly title: string;
  readonly status: Status;
  readonly reason: ManualReason | null;
  readonly detail: string;
  /**
   * `partial`: the check sees only a part of what its rule asks, always or because a PASS among its findings does, so its
   * PASS alone closes nothing in a checklist.
   */
  readonly coverage: Coverage;
  readonly attestation: Attestation | null;
  readonly findings: readonly Finding[];
}

export interface ScanSummary {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly org_url: string;
  readonly client_id: string;
  readonly engine: Engine;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly ended_at: string;
  readonly status: ScanStatus;
  readonly requested_scopes: readonly string[];
  readonly granted_scopes: readonly string[];
  readonly role: Role;
  readonly requests: {
    readonly total: number;
    readonly retried: number;
    /** Time spent waiting for the provider's rate limit, in milliseconds. */
    readonly throttled_ms: number;
  };
}

/** Counts of checks. */
export interface StatusCounts {
  readonly pass: number;
  readonly fail: number;
  readonly manual: number;
}

/** A finding that the baseline had and this scan, which evaluated the check, no longer has. */
export interface ResolvedFinding {
  readonly check: string;
  readonly resource: FindingResource;
  readonly fingerprint: string;
}

/** How the findings compare with an earlier report. */
export interface Comparison {
  readonly scan_id: string;
  readonly new: number;
  readonly unchanged: number;
  readonly resolved: number;
  /** The resolved ones whose resource is gone, so that no finding of this report can carry the mark. */
  readonly gone: readonly ResolvedFinding[];
}

export interface Report {
  readonly schema: "scanstream.report/1";
  readonly scan: ScanSummary;
  readonly summary: StatusCounts;
  readonly checks: readonly CheckResult[];
  /** Null without a baseline. */
  readonly baseline: Comparison | null;
}

/** FAIL if anything fails; else MANUAL if anything needs a person; else PASS. */
export function worstStatus(statuses: readonly Status[]): Status {
  if (statuses.includes("FAIL")) return "FAIL";
  return statuses.includes("MANUAL") ? "MANUAL" : "PASS";
}

export function countStatuses(results: readonly { readonly status: Status }[]): StatusCounts {
  const count = (status: Status) => results.filter((result) => result.status === status).length;
  return { pass: count("PASS"), fail: count("FAIL"), manual: count("MANUAL") };
}
