import { availableValue, type CollectedArtifacts, type Evidence } from "../evidence/artifacts.ts";
import { pathSegment } from "../evidence/collectors/collector.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { CheckResult, Finding } from "../../shared/report.ts";
import {
  addressOf,
  draftResource,
  finishResource,
  type NewResource,
  type ResourceDraft,
  type TerraformResource,
  type Value,
  type Variable,
} from "./terraform.ts";

/** A finding that fails, or a missing log stream that nobody attested, with its rule. */
export interface Failed {
  readonly check: string;
  /** `V-273186`. */
  readonly rule: string;
  readonly finding: Finding;
}

/** A failing finding that is not in the plan, and why. */
export interface ByHand extends Failed {
  readonly why: string;
}

export interface FixPlan {
  readonly resources: readonly TerraformResource[];
  readonly variables: readonly Variable[];
  /** The findings that the resources fix. */
  readonly fixed: readonly Failed[];
  readonly byHand: readonly ByHand[];
}

/** A plan while it is made. Each planner adds the resources of its checks. */
export interface PlanDraft {
  readonly artifacts: CollectedArtifacts;
  /** The findings of these checks that fail. */
  failedOf(checks: readonly string[]): readonly Failed[];
  /** The resource of that address, which is made where the plan has none yet; it fixes these findings. */
  resource(wanted: NewResource, failed: readonly Failed[]): ResourceDraft;
  /** Those that are planned so far. */
  resources(): readonly ResourceDraft[];
  variable(variable: Variable): Value;
  byHand(failed: readonly Failed[], why: string): void;
}

export function createPlanDraft(
  results: readonly CheckResult[],
  artifacts: CollectedArtifacts,
): { readonly draft: PlanDraft; readonly finish: () => FixPlan } {
  const failed = results.flatMap(({ check, vuln_id: rule, findings, attestation }) => {
    // Where no log stream is active a person may attest another way: until then it is to fix.
    const isOpen = check === "systemlog_streaming_enabled" && attestation === null;
    return findings
      .filter(({ status, reason }) => status === "FAIL" || (isOpen && reason === "needs_review"))
      .map((finding): Failed => ({ check, rule, finding }));
  });
  const resources = new Map<string, ResourceDraft>();
  const variables = new Map<string, Variable>();
  const byHand = new Map<Finding, ByHand>();
  const planned = new Set<Finding>();
  const draft: PlanDraft = {
    artifacts,
    failedOf: (checks) => failed.filter(({ check }) => checks.includes(check)),
    resource(wanted, fixes) {
      for (const { finding } of fixes) planned.add(finding);
      const address = addressOf(wanted);
      const known = resources.get(address) ?? draftResource(wanted);
      resources.set(address, known);
      return known;
    },
    resources: () => [...resources.values()],
    variable(variable) {
      variables.set(variable.name, variable);
      return { kind: "reference", to: `var.${variable.name}` };
    },
    byHand(findings, why) {
      for (const item of findings) byHand.set(item.finding, { ...item, why });
    },
  };
  return {
    draft,
    finish() {
      draft.byHand(
        failed.filter(({ finding }) => !planned.has(finding) && !byHand.has(finding)),
        "the evidence does not say enough about what fails",
      );
      return {
        resources: [...resources.values()].map(finishResource),
        variables: [...variables.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
        fixed: failed.filter(({ finding }) => !byHand.has(finding)),
        byHand: [...byHand.values()],
      };
    },
  };
}

/** The entries that were obtained; a finding that fails rests on what was. */
export function listed<Item>(evidence: Evidence<readonly Item[]> | undefined): readonly Item[] {
  return evidence === undefined ? [] : (availableValue(evidence) ?? []);
}

/** The id of an object of the provider; null where it has none that a request could name. */
export function idOf(object: JsonObject): string | null {
  const { id } = object;
  return typeof id === "string" && pathSegment(id) === id ? id : null;
}
