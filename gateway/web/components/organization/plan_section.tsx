import { vulnIdOf } from "../../../../shared/rule_names.ts";
import { categoryNames } from "../../../../shared/severity.ts";
import type { Plan } from "../../model/plan.ts";
import { ruleAddress } from "../../model/route.ts";
import type { RuleRow } from "../../model/rules.ts";
import { Folded } from "../basics.tsx";

/** Changes to make, those that close most rules first; the rules that a change closes lead to their rows. */
export function PlanSection({ plan: { headline, changes } }: { readonly plan: Plan }) {
  if (changes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">{`Do next: ${headline}`}</h2>
      <Folded
        items={changes}
        row={({ id, number, change, isCatI, checks, closes }) => (
          <li key={id} class="plan-change">
            <span class="fine">{number ?? "•"}</span>
            <span>{change}</span>
            <span class={isCatI ? "strong-fail" : "fine"}>{categoryNames[isCatI ? "high" : "medium"]}</span>
            <span class="plan-rules fine">
              <RuleLinks checks={checks.slice(0, 8)} />
              {closes}
            </span>
          </li>
        )}
      />
    </section>
  );
}

/** The organization's own Access Control policy, and the rules whose result rests on it. */
export function PolicySection({ rules }: { readonly rules: readonly RuleRow[] }) {
  const resting = rules.filter(({ findings }) => findings.some(({ rests_on: text }) => text !== null));
  const documents = new Set(resting.flatMap(({ findings }) => findings.flatMap(({ rests_on: text }) => text ?? [])));
  if (resting.length === 0) return null;
  return (
    <section class="card policy" aria-labelledby="policy-title">
      <h2 id="policy-title">Access Control policy</h2>
      {[...documents].map((text) => (
        <p key={text}>{text}</p>
      ))}
      <p class="row wrap fine">
        {`${resting.length} ${resting.length === 1 ? "rule rests" : "rules rest"} on it:`}
        <RuleLinks checks={resting.map(({ check }) => check)} />
      </p>
    </section>
  );
}

function RuleLinks({ checks }: { readonly checks: readonly string[] }) {
  return checks.map((check) => (
    <a key={check} href={ruleAddress(location.hash, check)}>
      {vulnIdOf(check)}
    </a>
  ));
}
