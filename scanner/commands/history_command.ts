import { existsSync } from "node:fs";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { withGateway } from "../../command_line/gateway_api.ts";
import { writeLines } from "../../command_line/terminal.ts";
import { lastDays } from "../../shared/history/rule_history.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { History, RuleHistory } from "../../shared/schemas/history.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { sortBy } from "../checks/parsing/names.ts";
import { chooseOrganizations, readGatewayHistory, type HistoryQuery } from "../history/gateway_history.ts";
import { historyOf } from "../history/history_input.ts";
import { historyFormats } from "../history/history_formats.ts";
import { readFolder } from "../history/read_folder.ts";
import { chooseFormats, requireTarget, writeFormats } from "../reports/write_reports.ts";
import { signFiles } from "../signing/statement.ts";
import { runsFolder } from "../runs/kept_runs.ts";
import { readSettings, type Flags } from "../settings/read_settings.ts";
import { readSigning } from "./report_output.ts";
import { findRules } from "./criteria.ts";

/** `history`: when each rule passed, failed or was unknown. */
export async function historyCommand(flags: Flags, io: CommandIo, org?: string): Promise<number> {
  const settings = readSettings({ command: "history", flags, env: io.env });
  const { historyFormat, writeTo: directory, fromReports: folder } = settings;
  const formats = chooseFormats(historyFormats, historyFormat, directory);
  const signer = await readSigning(settings);
  const isOfGateway = folder === null && ["SCANSTREAM_URL", "SCANSTREAM_API_KEY"].some((name) => io.env[name]);
  if (folder === null && !isOfGateway && !existsSync(runsFolder))
    throw new UsageError([
      "history needs reports, and no run is kept here: scan first, name a folder with --from-reports DIR, or set SCANSTREAM_URL and SCANSTREAM_API_KEY for a gateway",
    ]);
  const inputs = isOfGateway ? [] : await readReports(folder?.file ?? runsFolder, io);
  // Reports of another revision of the STIG may have other rules.
  const named = inputs.flatMap(({ vulnIds }) => [...vulnIds]);
  const others = named.map(([check, id]) => ({ check, vuln_id: id, stig_id: id, rule_id: id }));
  const names = [...stigRuleNames, ...others];
  const rules = settings.rule === null ? null : new Set(findRules(settings, "rule", { names, io }));
  const wanted: HistoryQuery = { org: org ?? null, rules, period: lastDays(settings.days, io.now().getTime()) };
  const found = isOfGateway ? await fromGateway(wanted, io) : historyOf(inputs, wanted.period, rules);
  if (typeof found === "number") return found;
  const inOrder = (rules: readonly RuleHistory[]) => sortBy(rules, ({ vuln_id: vulnId, check }) => vulnId ?? check);
  const chosen = org === undefined ? found.organizations : chooseOrganizations(org, found.organizations);
  const organizations = chosen.map((one) => ({ ...one, rules: inOrder(one.rules) }));
  const history = { ...found, organizations };
  if (history.organizations.length === 0) writeLines(io, "No organization has a history yet: scan one first");
  const target = { name: "history", formats, outputDir: directory, stdout: io.stdout, fileWidth: 160 };
  await requireTarget(target);
  const written = await writeFormats(history, { width: io.terminal.columns }, target);
  const signed = await signFiles(written.files, factsOf(history, io), { signer, name: "history" });
  const problems = [...written.problems, ...signed.problems];
  writeLines(io, ...[...written.files, ...signed.files].map((path) => `Wrote ${path}`), ...problems);
  return problems.length === 0 ? exitCodes.ok : exitCodes.usage;
}

/** Files that cannot be used are named. Throws `UsageError` where no other is left. */
async function readReports(directory: string, io: CommandIo) {
  const { organizations, used, problems } = await readFolder(directory, io.now().getTime());
  writeLines(io, ...problems);
  if (used === 0) {
    const expected = "expected scan.json files, or files of follow --format ndjson";
    throw new UsageError([`--from-reports ${JSON.stringify(directory)}: no usable file: ${expected}`]);
  }
  return organizations;
}

function fromGateway(wanted: HistoryQuery, io: CommandIo): Promise<History | number> {
  const work = { access: requireGatewayAccess(io.env, []), io, maxAnswerBytes: 64 * 1_048_576 };
  return withGateway("read the history", work, (gateway, signal) => readGatewayHistory(gateway, wanted, signal));
}

function factsOf({ from, to, organizations }: History, io: CommandIo) {
  const [first = "", ...otherOrgs] = organizations.map((one) => one.org_url);
  return { scan: { org_url: first, started_at: from, ended_at: to }, otherOrgs, toolVersion: io.toolVersion };
}
