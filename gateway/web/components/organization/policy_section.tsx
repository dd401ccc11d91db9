import { useEffect, useState } from "preact/hooks";
import * as v from "valibot";
import type { Api } from "../../model/api.ts";
import { findCheck } from "../../model/check_catalog.ts";
import { readReport } from "../../model/report_files.ts";
import type { RuleRow } from "../../model/rules.ts";
import { useLifetime } from "../hooks.ts";

/** The part of the stored report that is shown here; the whole schema is large. */
const documentSchema = v.object({
  org_policy: v.object({
    reference: v.string(),
    approved_by: v.string(),
    approved_on: v.string(),
    expires: v.string(),
    standing: v.picklist(["in_force", "expired", "not_in_force_yet"]),
  }),
});
type PolicyDocument = v.InferOutput<typeof documentSchema>["org_policy"];

interface PolicyProps {
  readonly api: Api;
  readonly rules: readonly RuleRow[];
  readonly scanId: string | null;
  readonly toAddress: (check: string) => string;
  readonly now: number;
}

const standings = { in_force: "in force", expired: "expired", not_in_force_yet: "not in force yet" } as const;

/** The organization's own Access Control policy, and the rules whose result rests on it. */
export function PolicySection({ api, rules, scanId, toAddress, now }: PolicyProps) {
  const resting = rules.filter(({ findings }) => findings.some(({ rests_on: text }) => text !== null));
  const citation = resting[0]?.findings.find(({ rests_on: text }) => text !== null)?.rests_on ?? null;
  const [document, setDocument] = useState<PolicyDocument | null>(null);
  const signal = useLifetime();
  useEffect(() => {
    if (citation === null || scanId === null) return;
    // Without the stored report the citation says who approved it.
    readReport(api, scanId, signal).then(
      (report) => {
        const result = v.safeParse(documentSchema, report);
        if (result.success) setDocument(result.output.org_policy);
      },
      () => undefined,
    );
  }, [api, citation, scanId, signal]);
  if (citation === null) return null;
  const isEnding = document !== null && Date.parse(document.expires) - now < 14 * 86_400_000;
  return (
    <section class="card policy" aria-labelledby="policy-title">
      <h2 id="policy-title">Access Control policy</h2>
      {document === null ? (
        <p>{citation}</p>
      ) : (
        <p>
          <strong>{document.reference}</strong>
          {` · approved by ${document.approved_by} on ${document.approved_on} · `}
          <span class={isEnding || document.standing !== "in_force" ? "strong" : ""}>
            {`${standings[document.standing]}, ends ${document.expires}`}
          </span>
        </p>
      )}
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
