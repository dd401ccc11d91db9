import type { RuleLimit } from "./rule_limits.ts";

export type DoctorStep =
  | "configuration"
  | "private_key"
  | "organization"
  | "clock"
  | "token"
  | "dpop"
  | "scopes"
  | "role"
  | "rules"
  | "rate_limits";

/** `warn`: a scan works, but something should be better; `skipped`: an earlier step failed that this one needs. */
export type DoctorState = "ok" | "warn" | "fail" | "skipped";

export interface DoctorResult {
  readonly step: DoctorStep;
  readonly state: DoctorState;
  /** Observation, in one sentence. */
  readonly detail: string;
  /** Remedy: what to click or set; null where there is nothing to do. */
  readonly remedy: string | null;
  /** For the role: what this organization answers it where the provider's documents do not say. */
  readonly facts?: readonly string[];
  /** For the rules: which of them a scan cannot decide, or only in part. */
  readonly limits?: readonly RuleLimit[];
}

export function ok(step: DoctorStep, detail: string): DoctorResult {
  return { step, state: "ok", detail, remedy: null };
}

export function warn(step: DoctorStep, detail: string, remedy: string | null): DoctorResult {
  return { step, state: "warn", detail, remedy };
}

export function fail(step: DoctorStep, detail: string, remedy: string): DoctorResult {
  return { step, state: "fail", detail, remedy };
}
