import { findCheck } from "../../model/check_catalog.ts";
import type { RuleRow } from "../../model/rules.ts";

interface PolicyProps {
  readonly rules: readonly RuleRow[];
  readonly toAddress: (check: string) => string;
}

/** The organization's own Access Control policy, and the rules whose result rests on it. */
export function PolicySection({ rules, toAddress }: PolicyProps) {
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
        {resting.map(({ check }) => (
          <a key={check} href={toAddress(check)}>
            {findCheck(check)?.vulnId ?? check}
          </a>
        ))}
      </p>
    </section>
  );
}
