import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { revisionName, type CatalogCheck, type Revision } from "../catalog/catalog.ts";
import { findCheck } from "../catalog/select_checks.ts";
import { explainOrg } from "../explain/explain_org.ts";
import { explanationMarkdown, explanationText } from "../explain/explain_text.ts";
import { markdownText } from "../reports/markdown_text.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { listRuns } from "../runs/kept_runs.ts";
import { oneOrganization, settingsOfSaved, severalNames } from "../settings/organizations.ts";
import { readSettings, type Flags, type Settings } from "../settings/read_settings.ts";
import { describeCheck, explainCheck, guideTo, listChecks } from "./describe_checks.ts";
import { readRules } from "./criteria.ts";
import { evaluateSource, openSource } from "./sources.ts";

/** `explain`: every rule; with a name that rule, after what decides in the org where there is one. */
export async function explainCommand(flags: Flags, io: CommandIo, name?: string): Promise<number> {
  const settings = await settingsOfSaved("explain", flags, { io, orgUrl: null });
  const revision = await readRevision(settings.benchmark);
  const { checks } = revision;
  const isJson = settings.explainFormat === "json";
  if (name === undefined) {
    io.stdout(isJson ? `${JSON.stringify(checks.map(guideTo), null, 2)}\n` : listChecks(checks));
    return exitCodes.ok;
  }
  const check = findCheck(name, { checks, warn: (line) => writeLines(io, line) });
  const names = flags["fromArtifacts"] === undefined && flags["org"] === undefined ? await severalNames(flags) : [];
  if (names.length > 0) writeLines(io, `To see what decides in your org, add --org with one of ${names.join(", ")}`);
  if (names.length === 0 && (await hasOrganization(settings, flags, io)))
    return explainOfOrg(check, { revision, flags, io });
  const { rule } = check;
  const described = {
    ...guideTo(check),
    check_text: rule.check_text,
    fix_text: rule.fix_text,
    ...writtenFor(check),
  };
  io.stdout(isJson ? `${JSON.stringify(described, null, 2)}\n` : explainCheck(check));
  return exitCodes.ok;
}

/** Returns true where evidence, a kept run or settings name an organization. */
async function hasOrganization(settings: Settings, flags: Flags, io: CommandIo): Promise<boolean> {
  if (settings.fromArtifacts !== null || settings.org !== null) return true;
  const { orgUrl } = readSettings(await oneOrganization("explain", flags, io));
  return orgUrl !== null || (await listRuns(null)).length > 0;
}

async function explainOfOrg(
  check: CatalogCheck,
  { revision, flags, io }: { readonly revision: Revision; readonly flags: Flags; readonly io: CommandIo },
): Promise<number> {
  const source = await openSource("explain", flags, io);
  const rules = await readRules(source.settings, source.document.scan.org_url, io);
  const { results, document } = evaluateSource(source, { ...rules, checks: [check], isNamed: true }, io);
  const explained = results.map((result) => explainOrg(check, result, document));
  const { explainFormat } = source.settings;
  const head = `${check.rule.vuln_id} ${check.rule.title} (${revisionName(revision.benchmark)})`;
  const width = Math.max(io.terminal.columns || 80, 60);
  const texts = {
    json: () => `${JSON.stringify({ ...describeCheck(check), org: explained[0] }, null, 2)}\n`,
    markdown: () => `# ${markdownText(head)}\n\n${explained.map(explanationMarkdown).join("\n")}`,
    text: () => `${explained.map((one) => explanationText(one, width)).join("\n")}\n${explainCheck(check)}`,
  };
  io.stdout(texts[explainFormat]());
  return exitCodes.ok;
}

/** The texts that a check was written for, where the revision words its rule otherwise. */
function writtenFor({ unjudged }: CatalogCheck): object {
  if (unjudged === undefined) return {};
  const { reason, writtenFor: rule } = unjudged;
  return { reason, written_for: rule === null ? null : { check_text: rule.check_text, fix_text: rule.fix_text } };
}
