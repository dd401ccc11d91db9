import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { fitText, writeLines } from "../../command_line/terminal.ts";
import { builtIn, revisionName, type CatalogCheck } from "../catalog/catalog.ts";
import { fieldsText } from "../checks/check.ts";
import type { Parameter, Setting } from "../checks/parameter.ts";
import { levelOf } from "../reports/report_format.ts";
import { findCheck } from "../catalog/select_checks.ts";
import { explainOrg } from "../explain/explain_org.ts";
import { explanationText } from "../explain/explain_text.ts";
import { readRevision } from "../revisions/revision.ts";
import { toPrintableJson } from "../../shared/text.ts";
import { ownValues } from "../org_policy/document.ts";
import { keptHosts } from "../runs/kept_runs.ts";
import { oneOrganization, settingsOfSaved, severalNames } from "../settings/organizations.ts";
import { readSettings, type Flags, type Settings } from "../settings/read_settings.ts";
import { readRules } from "./criteria.ts";
import { evaluateSource, openSource } from "./sources.ts";

/** `explain`: every rule; with a name that rule, after what decides in the org where there is one. */
export async function explainCommand(flags: Flags, io: CommandIo, name?: string): Promise<number> {
  const settings = await settingsOfSaved("explain", flags, { io, orgUrl: null });
  const { checks } = await readRevision(settings.benchmark);
  const isJson = settings.textFormat === "json";
  const width = Math.max(io.terminal.columns, 60);
  const fit = (text: string) => fitText(text, width);
  if (name === undefined) {
    io.stdout(isJson ? `${JSON.stringify(checks.map(guideTo), null, 2)}\n` : fit(listChecks(checks)));
    return exitCodes.ok;
  }
  const check = findCheck(name, { checks, warn: (line) => writeLines(io, line) });
  const { option, names } = await organizationsOf(settings, flags, io);
  if (names.length === 1) return explainOfOrg(check, flags, { io, width });
  if (names.length > 0)
    writeLines(io, `To see what decides in your org, add ${option} with one of ${names.join(", ")}`);
  const textsOf = ({ check_text, fix_text }: CatalogCheck["rule"]) => ({ check_text, fix_text });
  const { rule, unjudged } = check;
  // The texts that a check was written for, where the revision words its rule otherwise.
  const { reason, writtenFor = null } = unjudged ?? {};
  const others = unjudged && { reason, written_for: writtenFor && textsOf(writtenFor) };
  const described = { ...guideTo(check), ...textsOf(rule), ...others };
  io.stdout(isJson ? `${JSON.stringify(described, null, 2)}\n` : fit(explainCheck(check)));
  return exitCodes.ok;
}

/** The organizations that evidence, settings or kept runs name, and the option that chooses one. */
async function organizationsOf({ fromArtifacts, org }: Settings, flags: Flags, io: CommandIo) {
  if (fromArtifacts !== null) return { option: "--from-artifacts", names: [fromArtifacts.file] };
  const listed = org?.slice(0, 1) ?? (await severalNames(flags));
  if (listed.length > 0) return { option: "--org", names: listed };
  const { orgUrl } = readSettings(await oneOrganization("explain", flags, io));
  return { option: "--org-url", names: orgUrl === null ? await keptHosts() : [orgUrl] };
}

async function explainOfOrg(
  check: CatalogCheck,
  flags: Flags,
  { io, width }: { readonly io: CommandIo; readonly width: number },
): Promise<number> {
  const source = await openSource("explain", flags, io);
  const rules = await readRules(source.settings, source.document.scan.org_url, io);
  const { results, document } = evaluateSource(source, { ...rules, checks: [check], isNamed: true }, io);
  const values = ownValues(rules.orgPolicy, document.evaluated_at);
  const explained = results.map((result) => explainOrg(check, result, { document, values }));
  io.stdout(
    source.settings.textFormat === "json"
      ? `${toPrintableJson({ ...describeCheck(check), org: explained[0] }, 2)}\n`
      : `${explained.map((one) => explanationText(one, width)).join("\n")}\n${fitText(explainCheck(check), width)}`,
  );
  return exitCodes.ok;
}

/** Names, needs and title of a check. */
function describeCheck({ name, rule }: CatalogCheck) {
  const { vuln_id, stig_id, rule_id, category, severity, scopes, role, title } = rule;
  return { check: name, vuln_id, stig_id, rule_id, category, severity, scopes, role, title };
}

/**
 * A rule as data, for programs that compare an org themselves: which API fields decide, the value that is required where one field
 * decides alone, the limits that an organization may set, and how to set it in the console.
 */
function guideTo(check: CatalogCheck) {
  const { explanation, decidingFields, leftToPerson, parameters, setting } = check;
  const { examines, why, rests_on, fix } = explanation;
  return {
    ...describeCheck(check),
    examines,
    why,
    rests_on,
    deciding_fields: decidingFields.map(fieldsText),
    setting: setting === null ? null : requiredValue(setting),
    limits: parameters.map(({ name, unit, stigValue }) => ({ name, unit, value: stigValue })),
    fix,
    left_to_person: leftToPerson,
  };
}

/** `at_least` and `at_most` a number, or `equal` to a boolean. */
function requiredValue({ path, isOn, limit }: Setting) {
  if (isOn !== undefined) return { path, compare: "equal", value: isOn };
  if (typeof limit === "number") return { path, compare: "at_least", value: limit };
  return { path, compare: limit.stricter === "more" ? "at_least" : "at_most", value: limit.stigValue };
}

/** `explain`: one line each. */
function listChecks(checks: readonly CatalogCheck[]): string {
  const lines = checks.map(
    ({ name, rule }) =>
      `${rule.vuln_id}  ${rule.stig_id}  ${levelOf(rule).padEnd(7)} ${rule.title}\n          ${name} · ${roleOf(rule)} · ${rule.scopes.join(" ")}`,
  );
  return `${lines.join("\n")}\n`;
}

/** `explain CHECK`: what it examines, why, how to fix it in the console, which API fields decide. */
function explainCheck(check: CatalogCheck): string {
  const { rule, explanation, decidingFields, parameters, unjudged } = check;
  const judged = [
    ["What a PASS rests on", ...explanation.rests_on.map((text) => `- ${text.replaceAll("`", "")}`)],
    ["How to fix", ...explanation.fix.map((step, index) => `${index + 1}. ${step}`)],
    ["Which API fields decide", ...decidingFields.map(fieldsText)],
    ...(parameters.length === 0 ? [] : [["Limits (limits of --org-policy)", ...parameters.map(describeParameter)]]),
    ["Needs", `scopes ${rule.scopes.join(", ")}; role ${roleOf(rule)}`],
  ];
  const { writtenFor: known = null } = unjudged ?? {};
  const own = revisionName(builtIn.benchmark);
  const sections = [
    ["Examines", explanation.examines],
    ["Why", explanation.why],
    ...(unjudged === undefined ? judged : []),
    ["DISA's check", rule.check_text],
    ["DISA's fix", rule.fix_text],
    // The text that the check was written for, next to the one of this revision.
    ...(known === null ? [] : [[`DISA's check in ${own}`, known.check_text]]),
    ...(known === null ? [] : [[`DISA's fix in ${own}`, known.fix_text]]),
  ].map(([title, ...lines]) => [title, ...lines.map((line) => line.replaceAll(/^/gm, "  "))].join("\n"));
  const head = [`${rule.vuln_id} ${levelOf(rule)}\n${rule.title}`, `${rule.stig_id} · ${rule.rule_id}`];
  return `${[...head, ...sections].join("\n\n")}\n`;
}

function roleOf({ role }: CatalogCheck["rule"]): string {
  return role === "super_admin" ? "Super Administrator" : "Read-Only Administrator";
}

/** `global_session_idle_minutes: 15 minutes in the STIG; less is stricter`. */
function describeParameter(parameter: Parameter): string {
  const { name, unit, stigValue } = parameter;
  if (parameter.kind === "list") return `${name}: ${parameter.stigValue.join(" or ")} in the STIG; fewer are stricter`;
  return `${name}: ${String(stigValue)} ${unit} in the STIG; ${parameter.stricter} is stricter`;
}
