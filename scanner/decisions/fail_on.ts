import { InvalidSetting } from "../../shared/environment_reader.ts";
import type { Finding, Severity } from "../../shared/report.ts";
import { parseSeverity, severities } from "../../shared/severity.ts";

/** Value of `--fail-on`: findings of a verdict, from a severity up, fail a run. Without a condition: never. */
export interface FailOn {
  /** The word of the command line, for messages. */
  readonly text: string;
  readonly conditions: readonly { readonly statuses: readonly Finding["status"][]; readonly leastSeverity: Severity }[];
}

/** Conditions of `fail:high,manual`; `manual` counts FAIL too, which is worse than it. Throws `InvalidSetting` for anything else. */
export function parseFailOn(text: string): FailOn {
  if (text.trim() === "never") return { text, conditions: [] };
  const words = text.split(",");
  const conditions = words.flatMap((word) => parseWord(word.trim()) ?? []);
  if (conditions.length === words.length) return { text, conditions };
  const alone = words.find((word) => parseSeverity(word) !== null)?.trim();
  const expected =
    alone === undefined
      ? "expected fail, manual or never, optionally with a minimum severity: fail:high, fail:cat1"
      : `a severity needs a status: expected fail:${alone} or manual:${alone}`;
  throw new InvalidSetting(`${JSON.stringify(text)}: ${expected}`);
}

function parseWord(word: string): FailOn["conditions"][number] | null {
  const [verdict, severity = "low", ...rest] = word.split(":");
  const leastSeverity = parseSeverity(severity);
  if (leastSeverity === null || rest.length > 0 || (verdict !== "fail" && verdict !== "manual")) return null;
  return { statuses: verdict === "fail" ? ["FAIL"] : ["FAIL", "MANUAL"], leastSeverity };
}

/** True when a finding of that verdict and severity fails the run. */
export function isNamed({ conditions }: FailOn, status: Finding["status"], severity: Severity): boolean {
  const rank = severities.indexOf(severity);
  return conditions.some((one) => one.statuses.includes(status) && rank <= severities.indexOf(one.leastSeverity));
}
