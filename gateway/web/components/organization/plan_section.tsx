import { categoryNames } from "../../../../shared/severity.ts";
import { findCheck } from "../../model/check_catalog.ts";
import type { Plan } from "../../model/plan.ts";
import { Folded } from "../basics.tsx";

interface PlanProps {
  readonly plan: Plan;
  readonly toAddress: (check: string) => string;
}

/** Changes to make, those that close most rules first; the rules that a change closes lead to their rows. */
export function PlanSection({ plan: { headline, changes }, toAddress }: PlanProps) {
  if (changes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">{`Do next: ${headline}`}</h2>
      <Folded
        items={changes}
        first={4}
        noun="more change"
        class="plan"
        row={({ id, number, change, isCatI, checks, closes }) => (
          <li key={id} class="plan-change">
            <span class="fine">{number ?? "•"}</span>
            <span class="plan-text">{change}</span>
            <span class={isCatI ? "strong-fail" : "fine"}>{categoryNames[isCatI ? "high" : "medium"]}</span>
            <span class="plan-rules fine">
              {checks.slice(0, 8).map((check) => (
                <a key={check} href={toAddress(check)}>
                  {findCheck(check)?.vulnId ?? check}
                </a>
              ))}
              {closes}
            </span>
          </li>
        )}
      />
    </section>
  );
}
