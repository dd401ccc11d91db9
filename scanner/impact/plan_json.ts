import type { Cause, CheckResult } from "../../shared/report.ts";
import type { PlanImpact } from "./impact.ts";
import { causeOfChange } from "../fix/cause_of_change.ts";
import { marker, type Origin } from "../fix/fix_files.ts";
import type { FixPlan } from "../fix/plan_draft.ts";
import { addressOf } from "../fix/terraform.ts";

export interface PlanJsonInput {
  readonly plan: FixPlan;
  readonly results: readonly CheckResult[];
  readonly causes: readonly Cause[];
  readonly impact: PlanImpact | null;
  readonly origin: Origin;
}

/** `plan.json`, `scanstream.plan/1`: `plan.md` for programs. */
export function renderPlanJson({ plan, results, causes, impact, origin }: PlanJsonInput): string {
  const checksOf = new Map(results.map(({ vuln_id: rule, check }) => [rule, check]));
  const changes = plan.resources.map((resource) => {
    const attributes = [resource.attributes, ...resource.blocks.map((block) => block.attributes)];
    const changed = attributes.flatMap((map) => [...map].filter(([, { change }]) => change !== null));
    const rules = [...new Set(changed.flatMap(([, { change }]) => change?.rules ?? []))].sort();
    const id = resource.importId?.split("/").at(-1) ?? null;
    const found = impact?.changes.get(addressOf(resource));
    return {
      address: addressOf(resource),
      title: resource.title,
      action: resource.importId === null ? "create" : "import",
      object_id: id,
      cause: causeOfChange(resource, causes, results)?.id ?? null,
      rules,
      checks: rules.flatMap((rule) => checksOf.get(rule) ?? []),
      sets: changed.map(([attribute, { change }]) => ({ attribute, was: change?.was ?? "" })),
      impact: found === undefined || typeof found === "string" ? null : found,
      impact_reason: typeof found === "string" ? found : null,
    };
  });
  const document = {
    schema: "scanstream.plan/1",
    written_by: marker,
    org_url: origin.orgUrl,
    collected_at: origin.collectedAt,
    impact:
      impact === null
        ? null
        : {
            days: impact.days,
            since: impact.since,
            until: impact.until,
            entries: impact.entries,
            problem: impact.problem,
          },
    changes,
    by_hand: plan.byHand.map(({ check, rule, finding, why }) => ({ check, rule, resource: finding.resource, why })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
