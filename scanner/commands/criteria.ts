import type { CommandIo } from "../../command_line/command_io.ts";
import type { NamedFile } from "../../command_line/files.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { findRule, unknownRule, type RuleNames } from "../../shared/rule_names.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { CatalogCheck, Revision } from "../catalog/catalog.ts";
import { selectChecks } from "../catalog/select_checks.ts";
import { readChecklist, type Checklist } from "../checklists/checklist.ts";
import type { Decisions } from "../decisions/apply_decisions.ts";
import { readDecisions, fetchDecisions, mergeDecisions } from "../decisions/decision_sources.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import { readOrgPolicy } from "../org_policy/read_org_policy.ts";
import { lastRun, listRuns } from "../runs/kept_runs.ts";
import { readRevision } from "../revisions/revision.ts";
import type { Settings } from "../settings/read_settings.ts";
import { isSameOrg } from "../settings/values.ts";

/** The rules that a command evaluates, and by which limits. */
export interface Rules {
  readonly revision: Revision;
  readonly checks: readonly CatalogCheck[];
  /** Set where they were named one by one: each then has a result, also where its evidence was not collected. */
  readonly isNamed: boolean;
  /** The organization's own document; null: none. */
  readonly orgPolicy: OrgPolicy | null;
  readonly names: readonly RuleNames[];
}

/** Throws `UsageError` for a setting or a file that cannot be used. */
export async function readRules(
  settings: Settings,
  orgUrl: string | null,
  io: Pick<CommandIo, "terminal">,
): Promise<Rules> {
  const revision = await readRevision(settings.benchmark);
  const { checks: known } = revision;
  const names = known.map(({ rule }) => rule);
  const check = findRules(settings, "check", { names, io });
  const exclude = findRules(settings, "exclude", { names, io });
  const checks = selectChecks({ check, exclude, severity: settings.severity }, known);
  const orgPolicy = await readOrgPolicy(settings.orgPolicy, { orgUrl, checks: known });
  return { revision, checks, isNamed: settings.check !== null, orgPolicy, names };
}

/** The names of the checks that a setting names in any way; says where another revision was named. Throws `UsageError`. */
export function findRules(
  settings: Settings,
  setting: "check" | "exclude" | "rule",
  { names, io }: Pick<Rules, "names"> & { readonly io: Pick<CommandIo, "terminal"> },
): readonly string[] {
  const found = (settings[setting] ?? []).map((name) => ({ name, rule: findRule(name, names) }));
  const list = "run `scanstream explain` for the list";
  const problems = found.flatMap(({ name, rule }) =>
    rule === null ? [`${settings.nameOf(setting)}: ${unknownRule(name, names, list)}`] : [],
  );
  if (problems.length > 0) throw new UsageError(problems);
  writeLines(io, ...found.flatMap(({ rule }) => rule?.warning ?? []));
  return found.flatMap(({ rule }) => rule?.rule.check ?? []);
}

/** Everything by which a command evaluates the evidence of one organization, and reports on it. */
export interface Criteria<Given extends Settings = Settings> extends Rules {
  readonly settings: Given;
  readonly io: CommandIo;
  readonly decisions: Decisions;
  /** Answers of people; null: no checklist was given. */
  readonly checklist: Checklist | null;
}

/**
 * Reads what the command takes of it; the rest is empty. `startedAt` is that of evidence, which may be a kept run itself. Throws
 * `UsageError` for a setting or a file that cannot be used.
 */
export async function readCriteria<Given extends Settings>(
  settings: Given,
  about: { readonly orgUrl: string; readonly startedAt?: string },
  io: CommandIo,
): Promise<Criteria<Given>> {
  const { orgUrl } = about;
  const rules = await readRules(settings, orgUrl, io);
  const checklist = await readChecklist(settings.checklist, rules.revision);
  const sources = { decisions: settings.decisions, baseline: await findBaseline(settings, about, io) };
  const files = await readDecisions(sources, { rules: rules.names, warn: (line) => writeLines(io, line) });
  const { orgUrl: comparedUrl = orgUrl } = files.baseline ?? {};
  if (!isSameOrg(comparedUrl, orgUrl))
    writeLines(io, `${settings.baseline?.option ?? ""} is a report of ${comparedUrl}; this scan is of ${orgUrl}`);
  if (!settings.decisionsFromGateway) return { ...rules, settings, io, checklist, decisions: files };
  const fetched = await fetchDecisions(requireGatewayAccess(io.env, []), orgUrl, io.interrupted);
  const { decisions, warnings } = mergeDecisions(files, fetched, { rules: rules.names, nowMs: io.now().getTime() });
  writeLines(io, ...warnings);
  return { ...rules, settings, io, checklist, decisions };
}

/** The report of `--baseline`; `last` is that of the newest run before the evidence. */
async function findBaseline(
  { baseline }: Settings,
  { orgUrl, startedAt }: Parameters<typeof readCriteria>[1],
  io: CommandIo,
): Promise<NamedFile | null> {
  if (baseline?.file !== lastRun) return baseline;
  const option = `${baseline.option} last`;
  const [last] = await listRuns(orgUrl, startedAt);
  if (last !== undefined) return { option, file: last.report };
  writeLines(io, `${option}: no earlier run of ${orgUrl} is kept`);
  return null;
}
