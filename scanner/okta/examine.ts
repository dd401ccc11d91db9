import type { HttpIdpClient } from "./http_idp_client.ts";
import { toleratedSkewMs } from "./login.ts";
import type { Organization } from "./connection.ts";

/** Steps of an examination, in their order. `configuration` and `private_key` need no request. */
export const steps = [
  "configuration",
  "private_key",
  "organization",
  "clock",
  "token",
  "dpop",
  "scopes",
  "role",
  "rules",
  "rate_limits",
] as const;
export type Step = (typeof steps)[number];

export interface StepResult {
  readonly step: Step;
  /** `warn`: a scan works, but something should be better. `skipped`: an earlier step failed that this one needs. */
  readonly state: "ok" | "warn" | "fail" | "skipped";
  /** Observation, in one sentence. */
  readonly detail: string;
  /** Remedy: what to click or set; null where there is nothing to do. */
  readonly remedy: string | null;
}

export function ok(step: Step, detail: string): StepResult {
  return { step, state: "ok", detail, remedy: null };
}

export function warn(step: Step, detail: string, remedy: string | null): StepResult {
  return { step, state: "warn", detail, remedy };
}

export function fail(step: Step, detail: string, remedy: string): StepResult {
  return { step, state: "fail", detail, remedy };
}

export function organizationResult({ engine, id, scopePrefix }: Organization, orgUrl: string): StepResult {
  if (engine !== "unknown") {
    const name = engine === "identity" ? "Identity Engine" : "Classic Engine";
    return ok("organization", `${orgUrl} answers: ${name}, organization ${id ?? "without an id"}`);
  }
  return warn(
    "organization",
    `${orgUrl} answers, but it is not an Okta org or hides its engine; scanstream assumes that its scopes begin with "${scopePrefix}."`,
    "If this is an Okta organization, check its address, such as https://acme.okta.com; otherwise set IDP_SCOPE_PREFIX",
  );
}

/** A date tells whole seconds, and the answer was a while on its way. */
const unmeasuredSeconds = 2;

export function clockResult({ aheadMs }: Organization): StepResult {
  if (aheadMs === null) return ok("clock", "The organization sends no date, so clocks cannot be compared");
  const seconds = Math.round(aheadMs / 1000);
  if (Math.abs(seconds) <= unmeasuredSeconds) return ok("clock", "This machine's clock agrees with the organization's");
  const distance = `This machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the organization's`;
  if (Math.abs(aheadMs) <= toleratedSkewMs) return ok("clock", distance);
  return warn("clock", distance, "Set this machine's clock (NTP); until then, the scanner uses the organization's");
}

/** The assigned roles, if the provider lists them. */
export async function assignedRoles(clientId: string, client: HttpIdpClient): Promise<readonly string[]> {
  if (!client.isGranted("roles.read")) return [];
  const path = `/oauth2/v1/clients/${encodeURIComponent(clientId)}/roles`;
  const roles = await client.getList({ path, scope: "roles.read" });
  const types = roles.state === "missing" ? [] : roles.value.map(({ type }) => type);
  return types.filter((type) => typeof type === "string").map((type) => type.slice(0, 60));
}
