import { availableValue, type CollectedArtifacts, type Evidence } from "../evidence/artifacts.ts";
import { findCheck } from "../catalog/select_checks.ts";
import { limitOf, type ParameterValues } from "../checks/parameter.ts";
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

/** Sign-ins or calls that are allowed now and denied afterwards. */
export interface Loss {
  /** The address of the policy, token or zone in the org: its id, or that of the new resource. */
  readonly of: string;
  /** Who loses what, in one sentence. */
  readonly text: string;
}

export interface FixPlan {
  readonly resources: readonly TerraformResource[];
  readonly variables: readonly Variable[];
  /** The findings that the resources fix. */
  readonly fixed: readonly Failed[];
  readonly byHand: readonly ByHand[];
  readonly losses: readonly Loss[];
  /** Failing findings that a waiver accepts: they are not in the plan. */
  readonly accepted: readonly Failed[];
}

/** A plan while it is made. Each planner adds the resources of its checks. */
export interface PlanDraft {
  readonly artifacts: CollectedArtifacts;
  /** The organization's values. */
  readonly parameters: ParameterValues;
  /** The findings of these checks that fail. */
  failedOf(checks: readonly string[]): readonly Failed[];
  /** The organization's value in place of the STIG's for a check with such a parameter; else the value itself. */
  limitOf(check: string, stigValue: Value): Value;
  /** The resource of that address, which is made where the plan has none yet; it fixes these findings. */
  resource(wanted: NewResource, failed: readonly Failed[]): ResourceDraft;
  /** The resources that are planned so far. */
  resources(): readonly ResourceDraft[];
  variable(variable: Variable): Value;
  byHand(failed: readonly Failed[], why: string): void;
  /** Replaces what was said about the same object. */
  loses(loss: Loss): void;
  /** Plans these findings; where that gives a reason not to, nothing of it stays in the plan, and they are left to a person. */
  attempt(failed: readonly Failed[], plan: () => string | null): void;
}

export function createPlanDraft(
  results: readonly CheckResult[],
  artifacts: CollectedArtifacts,
  parameters: ParameterValues,
): { readonly draft: PlanDraft; readonly finish: () => FixPlan } {
  const all = results.flatMap(({ check, vuln_id: rule, findings, attestation }) => {
    // Where no log stream is active a person may attest another way: until then it is to fix.
    const isOpen = check === "systemlog_streaming_enabled" && attestation === null;
    return findings
      .filter(({ status, reason }) => status === "FAIL" || (isOpen && reason === "needs_review"))
      .map((finding): Failed => ({ check, rule, finding }));
  });
  const accepted = all.filter(({ finding }) => finding.waived);
  const failed = all.filter(({ finding }) => !finding.waived);
  let resources = new Map<string, ResourceDraft>();
  let variables = new Map<string, Variable>();
  let losses = new Map<string, Loss>();
  let planned = new Set<Finding>();
  const byHand = new Map<Finding, ByHand>();
  /** In words, that two objects of the org would be one resource. */
  let collision: string | null = null;
  const draft: PlanDraft = {
    artifacts,
    parameters,
    failedOf: (checks) => failed.filter(({ check }) => checks.includes(check)),
    limitOf(check, stigValue) {
      const parameter = findCheck(check).parameters.find(({ kind }) => kind === "number");
      return parameter?.kind === "number" ? limitOf(parameter, parameters) : stigValue;
    },
    resource(wanted, fixes) {
      for (const { finding } of fixes) planned.add(finding);
      const address = addressOf(wanted);
      const known = resources.get(address) ?? draftResource(wanted);
      if (known.importId !== wanted.importId) collision = `several objects of the org would be the resource ${address}`;
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
    loses(loss) {
      losses.set(loss.of, loss);
    },
    attempt(findings, plan) {
      const before = { resources: structuredClone(resources), variables, losses, planned };
      variables = new Map(variables);
      losses = new Map(losses);
      planned = new Set(planned);
      collision = null;
      const why = plan() ?? collision;
      if (why === null) return;
      ({ resources, variables, losses, planned } = before);
      draft.byHand(findings, why);
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
        losses: [...losses.values()],
        accepted,
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
