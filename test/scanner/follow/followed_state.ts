import type { PracticeOrg } from "../../../practice_org/create_practice_org.ts";
import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

/** The verdict of each finding, by fingerprint. */
export type Verdicts = ReadonlyMap<string, string>;

type Verdict = Exclude<ChangeLine["to"], null>;

/** Verdicts of a new scan of the org. */
export async function freshVerdicts(org: PracticeOrg): Promise<Verdicts> {
  const scan = await scanPracticeOrg(org);
  return new Map(
    scan.results.flatMap(({ check, findings }) =>
      findings.map((finding) => [finding.fingerprint, textOf(check, finding)] as const),
    ),
  );
}

/** Verdicts after the changes. */
export function followedVerdicts(lines: readonly ChangeLine[]): Verdicts {
  const verdicts = new Map<string, string>();
  for (const { check, fingerprint, to } of lines) {
    if (to === null) verdicts.delete(fingerprint);
    else verdicts.set(fingerprint, textOf(check, to));
  }
  return verdicts;
}

/** Differences of the two, in words. */
export function differences(followed: Verdicts, fresh: Verdicts): readonly string[] {
  const fingerprints = new Set([...followed.keys(), ...fresh.keys()]);
  return [...fingerprints]
    .filter((fingerprint) => followed.get(fingerprint) !== fresh.get(fingerprint))
    .map((fingerprint) => `followed ${followed.get(fingerprint) ?? "nothing"}, is ${fresh.get(fingerprint) ?? "gone"}`);
}

/** Changes that do not begin where the one before ended, or that are neither explained nor marked as not explained. */
export function chainProblems(lines: readonly ChangeLine[]): readonly string[] {
  const verdicts = new Map<string, string>();
  const problems: string[] = [];
  for (const { check, fingerprint, from, to, cause, explained_by: events } of lines) {
    const was = verdicts.get(fingerprint) ?? "nothing";
    const begins = from === null ? "nothing" : textOf(check, from);
    if (was !== begins) problems.push(`${was}, and then a change from ${begins}`);
    verdicts.set(fingerprint, to === null ? "nothing" : textOf(check, to));
    if (events.length > 0 && cause !== "log") problems.push(`${check}: ${cause} with ${events.length} events`);
    if (cause === "start" && from !== null) problems.push(`${check}: a first state after another`);
  }
  return problems;
}

function textOf(check: string, { status, reason }: Verdict): string {
  return reason === null ? `${check} ${status}` : `${check} ${status} ${reason}`;
}
