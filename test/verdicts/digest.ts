import { hash } from "node:crypto";
import type { CheckResult } from "../../shared/report.ts";
import { faultsOf } from "./faults.ts";
import { generateOrgs } from "./generated_orgs.ts";
import { answerOf, loadRecordedOrgs } from "./recorded_orgs.ts";
import { scanAnswers, type Conclusion } from "./scan_answers.ts";

/**
 * Conclusions of all cases, by case and check. An organization without a fault has every row; one with a fault has the checks that
 * conclude something else than without it; a generated one has the first letter of each check's status.
 * A hash stands for rows: expected, actual, fingerprint, status and reason of each finding.
 */
export interface Digest {
  /** The rows as JSON; the first one of a check is its own status and reason. */
  readonly recorded: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** `MANUAL provider_error 3fa9c2`. */
  readonly faults: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** `P3fa F09c …`, in the order of `checks`. */
  readonly generated: { readonly checks: string; readonly orgs: Readonly<Record<string, string>> };
  /** The cases that show each recorded organization, fault, path and kind of row. */
  readonly daily: readonly string[];
}

/** `isWanted`: of each fault and each generated organization. `rows`: all that the hashes stand for, by case. */
export async function computeDigest(isWanted: (title: string) => boolean) {
  const all = new Map<string, readonly string[]>();
  const recorded: Record<string, Record<string, readonly string[]>> = {};
  const faulty: Record<string, Record<string, string>> = {};
  const generated: Record<string, string> = {};
  let checks = "";

  for (const org of loadRecordedOrgs()) {
    const { name, clientId } = org;
    const right = note(name, await scanAnswers((path) => answerOf(org, path), { clientId }));
    recorded[name] = right;
    for (const fault of faultsOf(org)) {
      const title = `${name} ${fault.name} ${fault.at}`;
      if (!isWanted(title)) continue;
      const rows = note(title, await scanAnswers((path) => answerOf(org, path), { clientId, fault }));
      const changed = Object.entries(rows).filter(([check, own]) => own.join("\n") !== right[check]?.join("\n"));
      faulty[title] = Object.fromEntries(changed.map(([check, own]) => [check, summaryOf(own)]));
    }
  }
  let number = 0;
  for (const answering of generateOrgs()) {
    const title = `generated ${String(++number).padStart(4, "0")}`;
    if (!isWanted(title)) continue;
    const rows = note(title, await scanAnswers(answering, { clientId: "0oaGenerated" }));
    checks ||= Object.keys(rows).join(" ");
    generated[title] = Object.values(rows)
      .map((own) => summaryOf(own).charAt(0) + hashOf(own, 3))
      .join(" ");
  }
  const digest: Digest = { recorded, faults: faulty, generated: { checks, orgs: generated }, daily: dailyOf(all) };
  return { digest, rows: all };

  function note(title: string, conclusion: Conclusion): Record<string, readonly string[]> {
    if ("notScanned" in conclusion) {
      all.set(title, [`not scanned: ${conclusion.notScanned}`]);
      return { "not scanned": [JSON.stringify(["", conclusion.notScanned])] };
    }
    const rows = Object.fromEntries(conclusion.results.map((result) => [result.check, rowsOf(result)]));
    all.set(
      title,
      Object.entries(rows).flatMap(([check, own]) => own.map((row) => `${check} ${row}`)),
    );
    return rows;
  }
}

function rowsOf({ status, reason, findings }: CheckResult): readonly string[] {
  return [
    JSON.stringify([status, reason]),
    ...findings.map((finding) =>
      JSON.stringify([
        finding.status,
        finding.reason,
        finding.fingerprint.slice(0, 16),
        finding.expected,
        finding.actual,
      ]),
    ),
  ];
}

function summaryOf(rows: readonly string[]): string {
  const [status, reason] = JSON.parse(rows[0] ?? "[]") as [string, string | null];
  return [status, reason ?? "", hashOf(rows, 6)].filter((part) => part !== "").join(" ");
}

function hashOf(rows: readonly string[], length: number): string {
  return hash("sha256", rows.join("\n"), "base64url").slice(0, length);
}

/** Few cases that together have a row of each kind, those with most kinds first. Rows of one kind differ only in names, ids and limits. */
function dailyOf(cases: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const kindOf = (text: string) => text.replaceAll(/\b\w*\d[\w.:-]*/g, "#").replaceAll(/\\"[^"]*\\"/g, "#");
  const unseen = new Map(
    [...cases].map(([title, rows]) => [title, new Set([...title.split(" "), ...rows].map(kindOf))]),
  );
  const daily: string[] = [];
  for (;;) {
    const [title, shown] = [...unseen].reduce((best, next) => (next[1].size > best[1].size ? next : best));
    if (shown.size === 0) return daily;
    daily.push(title);
    unseen.delete(title);
    for (const kinds of unseen.values()) for (const kind of shown) kinds.delete(kind);
  }
}

/** One line for each difference in the wanted cases: the case, the check, what was and what is. */
export function compareDigests(was: Digest, is: Digest, isWanted: (title: string) => boolean): readonly string[] {
  const [before, after] = [linesOf(was, isWanted), linesOf(is, isWanted)];
  const same = "as without the fault";
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [one = same, other = same] = [before.get(name), after.get(name)];
    return one === other ? [] : [`${name}: ${one} -> ${other}`];
  });
}

/** The result of each check of each recorded organization and each wanted case. */
function linesOf(
  { recorded, faults, generated }: Digest,
  isWanted: (title: string) => boolean,
): ReadonlyMap<string, string> {
  const names = generated.checks.split(" ");
  const columns = Object.entries(generated.orgs).map(([name, line]) => {
    const entries = line.split(" ").map((column, index) => [names[index] ?? "", column] as const);
    return [name, Object.fromEntries(entries)] as const;
  });
  const wanted = [...Object.entries(faults), ...columns].filter(([title]) => isWanted(title));
  const cases = [...Object.entries(recorded), ...wanted];
  return new Map(
    cases.flatMap(([name, checks]) =>
      Object.entries(checks).map(([check, found]) => [`${name}: ${check}`, [found].flat().join("\n    ")] as const),
    ),
  );
}
