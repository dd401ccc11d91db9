import type { Cause, CheckResult } from "../../shared/report.ts";
import type { TerraformResource } from "./terraform.ts";

/** The cause that a change closes: of the object itself, of its policy, or of what failed about its policy. */
export function causeOfChange(
  { importId, attributes }: TerraformResource,
  causes: readonly Cause[],
  results: readonly CheckResult[],
): Cause | null {
  const policyId = attributes.get("policy_id")?.value ?? importId?.split("/")[0];
  const byId = (id: unknown) => causes.find(({ object }) => object.id === id);
  const failing = results.flatMap(({ findings }) => findings.filter(({ status }) => status === "FAIL"));
  const ofPolicy = failing.find(({ resource, cause }) => resource.id === policyId && cause !== null)?.cause;
  return byId(importId?.split("/").at(-1)) ?? byId(policyId) ?? causes.find(({ id }) => id === ofPolicy) ?? null;
}
