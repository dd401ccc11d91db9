import { basename } from "node:path";
import { standardStream, type NamedFile } from "../../command_line/files.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { Report } from "../../shared/report.ts";
import { openFindings, stateOf } from "../../shared/rule_result.ts";
import { shellWord } from "../../shared/text.ts";
import type { Revision } from "../catalog/catalog.ts";
import type { Settings } from "../settings/read_settings.ts";
import type { CommandName } from "../settings/setting.ts";
import { carriedLines, type Checklist } from "../checklists/checklist.ts";
import { checklistStatuses, type ChecklistStatus } from "../checklists/status.ts";
import { unreadRules } from "../decisions/fail_on.ts";
import { hostOf, orgNameOf } from "../reports/benchmark_rules.ts";
import { answersOf } from "../reports/checklists.ts";
import { worstFirst } from "../reports/result_text.ts";
import { overdueItems } from "../reports/statement.ts";

/** More files than this are named on one line: what else a run has to say should stay on the screen. */
const maxFileLines = 3;
/** The rules that one line names before "and N more". */
const maxNamed = 5;

/** Lines that name the written files. */
export function writtenLines(files: readonly string[], outputDir: NamedFile | null): readonly string[] {
  if (files.length <= maxFileLines || outputDir === null) return files.map((file) => `Wrote ${file}`);
  return [`Wrote ${files.length} files to ${outputDir.file}: ${files.map((file) => basename(file)).join(", ")}`];
}

/** Lines about disagreements of the scan and the answers of people in the checklist. */
export function checklistLines(report: Report, checklist: Checklist, revision: Revision): readonly string[] {
  const { differences } = answersOf(report, { toolVersion: "", checklist, revision });
  const { asset } = checklist;
  // A full name says nothing of the port.
  const isOfOther = ![hostOf(report), orgNameOf(report), ""].includes(asset.toLowerCase());
  const labelOf = (status: ChecklistStatus) => checklistStatuses[status].label;
  const named = differences.map(
    ({ vulnId, answered, status }) => `${vulnId} (answered ${labelOf(answered)}, found ${labelOf(status)})`,
  );
  return [
    ...(checklist.carried === null ? [] : carriedLines(checklist.name, checklist.carried)),
    ...(isOfOther ? [`The checklist ${checklist.name} is about ${asset}; this scan is of ${orgNameOf(report)}`] : []),
    ...(named.length === 0
      ? []
      : [
          `${countOf(named.length, "checklist answer")} of ${checklist.name} ${named.length === 1 ? "contradicts" : "contradict"} this scan: ${listed(named)}`,
        ]),
  ];
}

export interface NextSource {
  readonly settings: Settings;
  /** Evidence that was evaluated offline; absent: the org was scanned. */
  readonly from?: string;
  /** Set where other commands find this run. */
  readonly isKept?: boolean;
}

/**
 * The commands that a reader of the first screen needs next. After an offline run they stay offline. `again`: options of that command
 * for the same organization and results.
 */
export function nextLines(
  report: Report,
  { from, isKept = false, settings: { again } }: NextSource,
): readonly string[] {
  const evidence = from === undefined ? "" : ` --from-artifacts ${shellWord(from)}`;
  const command = (name: CommandName, words = "") => `scanstream ${name}${words}${again(name)}${evidence}`;
  const all = isKept
    ? `Every rule and finding: ${command("report")}, or ${command("report")} -f html -o report`
    : "Every rule and finding: add --verbose, or --format html --output report";
  const unread = unreadRules(report);
  // An interruption is the person's own.
  const mayHelp = from === undefined && unread.some(({ reason }) => reason !== "interrupted");
  if (unread.length > 0) return [all, ...(mayHelp ? [`Next: ${command("doctor")}`] : [])];
  // Stdin cannot be read again, and other commands would answer about another run than one that is not kept.
  if (from === undefined ? !isKept : from === standardStream) return [all];
  const [worst] = report.checks
    .filter((check) => openFindings(check).some(({ waived }) => !waived))
    .toSorted(worstFirst);
  if (worst === undefined) return [all];
  const isFailing = stateOf(worst) === "fail";
  const draft =
    isFailing || report.org_policy !== undefined
      ? []
      : [`Your own policy decides more: ${command("org-policy", " draft")}`];
  const then = isFailing ? `${command("fix")} -o fixes` : "answer it in a checklist or an attestation";
  return [`Next: ${command("explain", ` ${worst.vuln_id}`)}, then ${then}`, ...draft, all];
}

/** Lines about findings that were planned to be remediated by now and still fail. */
export function overdueLines(report: Report): readonly string[] {
  const named = overdueItems(report).map(
    ({ check, finding: { plan } }) => `${check.vuln_id} (${plan?.remediation_date ?? ""})`,
  );
  if (named.length === 0) return [];
  return [`${countOf(named.length, "finding")} past the planned remediation date: ${listed([...new Set(named)])}`];
}

function listed(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
