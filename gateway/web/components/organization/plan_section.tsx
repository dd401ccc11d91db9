import { countOf } from "../../../../shared/outcome_text.ts";
import { categoryNames } from "../../../../shared/severity.ts";
import { findCheck } from "../../model/check_catalog.ts";
import type { Plan, PlannedChange } from "../../model/plan.ts";

interface PlanProps {
  readonly plan: Plan;
  readonly toAddress: (check: string) => string;
}

/** The other changes are folded, and listed up to a bound. */
const listedFirst = 4;
const maxListed = 200;

/** Changes to make, those that close most rules first; the rules that a change closes lead to their rows. */
export function PlanSection({ plan: { headline, changes }, toAddress }: PlanProps) {
  if (changes.length === 0) return null;
  const list = (some: readonly PlannedChange[]) => (
    <ol class="plan">
      {some.map((one) => (
        <li key={one.id} class="plan-change">
          <span class="fine">{one.number ?? "•"}</span>
          <span class="plan-text">{one.change}</span>
          <span class={one.isCatI ? "strong-fail" : "fine"}>{categoryNames[one.isCatI ? "high" : "medium"]}</span>
          <span class="plan-rules fine">
            {one.checks.slice(0, 8).map((check) => (
              <a key={check} href={toAddress(check)}>
                {findCheck(check)?.vulnId ?? check}
              </a>
            ))}
            {one.closes}
          </span>
        </li>
      ))}
    </ol>
  );
  const others = changes.slice(listedFirst, maxListed);
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">{`Do next: ${headline}`}</h2>
      {list(changes.slice(0, listedFirst))}
      {others.length > 0 && (
        <details>
          <summary>{countOf(changes.length - listedFirst, "more change")}</summary>
          {list(others)}
        </details>
      )}
    </section>
  );
}
