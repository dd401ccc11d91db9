import type { CheckResult, Finding, Tailoring } from "../shared/report.ts";
import { countOf } from "../shared/outcome_text.ts";
import { isHolding, type Verdict } from "../shared/rule_result.ts";
import type { CatalogCheck } from "./catalog/catalog.ts";
import type { CheckContext } from "./checks/check.ts";
import { effectOf, ownValue } from "./checks/parameter.ts";
import { isNotShown } from "./evidence/artifacts.ts";

type Limits = Tailoring["parameters"];

/** The values of a rule that the organization has set otherwise than the STIG. */
export function ownLimits(check: CatalogCheck, { parameters }: Pick<CheckContext, "parameters">): Limits {
  return check.parameters.flatMap((parameter) => {
    const { name, unit, stigValue } = parameter;
    const value = ownValue(parameter, parameters);
    const effect = value === undefined ? null : effectOf(parameter, value);
    return value === undefined || effect === null ? [] : [{ name, unit, value, stig_value: stigValue, effect }];
  });
}

/**
 * A result counts by the STIG. A stricter limit of the organization's own can only add a FAIL, or MANUAL where the evidence that would
 * prove one was not obtained; a looser one that is met waives what fails by the STIG.
 */
export function withOwnLimits(
  byStig: CheckResult,
  byOwn: readonly Finding[],
  limits: Limits,
  toResult: (findings: readonly Finding[]) => CheckResult,
): CheckResult {
  const own = new Map(byOwn.map((finding) => [finding.fingerprint, finding]));
  const known = new Set(byStig.findings.map(({ fingerprint }) => fingerprint));
  const findings = [
    ...byStig.findings.map((finding) => merge(finding, own.get(finding.fingerprint), limits)),
    ...byOwn.filter((finding) => mayFail(finding, byStig) && !known.has(finding.fingerprint)),
  ];
  const effect = limits.some((limit) => limit.effect === "looser") ? "looser" : "stricter";
  return {
    ...toResult(findings),
    tailoring: { effect, parameters: limits, stig_status: byStig.status, stig_reason: byStig.reason },
  };
}

/** Evidence that was not obtained may prove a FAIL, so that nothing that holds by the STIG rests on its absence. */
function mayFail({ status, reason }: Finding, byStig: Verdict): boolean {
  return status === "FAIL" || (isHolding(byStig) && isNotShown(reason));
}

function merge(byStig: Finding, byOwn: Finding | undefined, limits: Limits): Finding {
  // A finding that fails by both has to meet the stricter of the two.
  const isStricter = limits.every(({ effect }) => effect === "stricter");
  if (byOwn !== undefined && mayFail(byOwn, byStig) && (byStig.status !== "FAIL" || isStricter))
    return { ...byOwn, stig_status: byStig.status };
  const isMet = byOwn?.status === "PASS" || byOwn?.automated === "PASS";
  if (byStig.status !== "FAIL" || !isMet) return byStig;
  // A FAIL does not say the part that its own value leaves to a person.
  const part = byOwn.status === "PASS" ? "" : ", as far as that is automated";
  return {
    ...byStig,
    waived: true,
    waiver: { reason: `met by the organization's own ${limitsText(limits)}${part}`, expires: null },
  };
}

/** Says that a looser limit is another way to close a finding, because it waives what meets it; empty where none is looser. */
export function looserLimitText({ parameters }: Tailoring): string {
  const looser = parameters.filter(({ effect }) => effect === "looser");
  const texts = looser.map(({ value, unit }) => limitText(value, unit));
  return texts.length === 0 ? "" : `, or meet the organization's own limit of ${texts.join(", ")}, which waives it`;
}

/** `minimum length 12 characters (STIG: 15, so this is looser)`, and the others. */
export function limitsText(limits: Limits): string {
  return limits
    .map(
      ({ name, unit, value, stig_value: stigValue, effect }) =>
        `${name} ${limitText(value, unit)} (STIG: ${valueText(stigValue)}, so this is ${effect})`,
    )
    .join(", ");
}

function limitText(value: number | readonly string[], unit: string): string {
  return typeof value === "number" ? countOf(value, unit.replace(/s$/, "")) : `${valueText(value)} ${unit}`;
}

function valueText(value: number | readonly string[]): string {
  return typeof value === "number" ? String(value) : value.join(" or ");
}
