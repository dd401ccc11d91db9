import { InvalidSetting } from "../../shared/environment_reader.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import { parseStates, stateWords } from "../../shared/rule_states.ts";
import { ruleStates } from "../../shared/rule_result.ts";
import { parseSeverity, severityWords } from "../../shared/severity.ts";
import { failOnProblem, parseFailOn, type FailOn } from "../decisions/fail_on.ts";
import { list, number, onOff, path, text, word, words, type CommandName } from "./setting.ts";
import {
  defaultScopes,
  expectedAddress,
  expectedClientId,
  parseClientId,
  parseIssuers,
  parseKeyId,
  parseOrgUrl,
  parseProxy,
  parseScopePrefix,
  parseScopes,
  parseVariableName,
} from "./values.ts";

/**
 * Every setting of the scanner, each in one row: its flag, variable and place in `scanstream.config.json`, its parser, default and
 * help, and the commands that take it. Options of the command line, the schema of the file, completion and
 * `docs/reference/settings.md` are made from this table. A row is found in the file by its name: `org_url` for `orgUrl`.
 */

const connecting: readonly CommandName[] = ["doctor", "scan", "collect", "explain", "fix", "follow"];
const offline: readonly CommandName[] = ["evaluate", "report", "diff"];
const configured: readonly CommandName[] = [...connecting, ...offline];
const choosing: readonly CommandName[] = ["scan", "collect", "evaluate", "fix", "follow"];
const deciding: readonly CommandName[] = ["scan", "evaluate", "fix", "follow"];
const reporting: readonly CommandName[] = ["scan", "evaluate", "report"];
const gating: readonly CommandName[] = ["scan", "evaluate"];

/** Those of `reports/formats.ts`, which is loaded only when a report is written. */
const formatNames: readonly string[] =
  "table json csv sarif junit ocsf cklb ckl hdf xccdf oscal poam html markdown".split(" ");
const gates = [
  "never",
  ...["fail", "manual"].flatMap((status) => [
    status,
    ...["high", "medium", "low"].map((level) => `${status}:${level}`),
  ]),
];

export const table = {
  config: path({
    flag: "--config <file>",
    commands: ["setup", ...configured, "verify"],
    group: "Organizations:",
    help: "configuration file (default: scanstream.config.json, if it exists)",
  }),
  noConfig: onOff({
    flag: "--no-config",
    commands: [...configured, "verify"],
    group: "Organizations:",
    help: "ignore scanstream.config.json",
  }),
  org: text(
    {
      flag: "--org <names>",
      commands: configured,
      group: "Organizations:",
      help: "organization of the file; several for scan and doctor, separated by commas",
      words: async () => (await (await import("./config_file.ts")).organizationNames()).map((value) => ({ value })),
      fallback: null,
    },
    (names) => names,
  ),
  parallel: number({
    flag: "--parallel <n>",
    kept: "top",
    commands: ["scan"],
    group: "Organizations:",
    help: "number of organizations to scan at the same time",
    unit: "organizations",
    least: 1,
    most: 32,
    isWhole: true,
    fallback: 4,
  }),

  orgUrl: text(
    {
      flag: "--org-url <url>",
      variables: ["IDP_ORG_URL", "OKTA_ORG_URL", "OKTA_CLIENT_ORGURL"],
      kept: "everywhere",
      isIdentity: true,
      required: expectedAddress,
      commands: ["setup", ...connecting],
      group: "Connection:",
      help: "address of the Okta org",
      fallback: null,
    },
    parseOrgUrl,
  ),
  clientId: text(
    {
      flag: "--client-id <id>",
      variables: ["IDP_CLIENT_ID", "OKTA_CLIENT_ID", "OKTA_CLIENT_CLIENTID"],
      kept: "everywhere",
      isIdentity: true,
      required: expectedClientId,
      commands: ["setup", ...connecting],
      group: "Connection:",
      help: "client id of the service app",
      fallback: null,
    },
    parseClientId,
  ),
  privateKeyFile: path({
    flag: "--private-key-file <file>",
    variables: ["IDP_PRIVATE_KEY_FILE", "OKTA_PRIVATE_KEY_FILE"],
    kept: "everywhere",
    isIdentity: true,
    commands: connecting,
    group: "Connection:",
    help: "private key of the service app: PEM, JWK or JWKS",
  }),
  privateKey: text(
    {
      variables: ["IDP_PRIVATE_KEY", "OKTA_PRIVATE_KEY", "OKTA_CLIENT_PRIVATEKEY"],
      isIdentity: true,
      commands: connecting,
      help: "the private key itself, also with \\n escapes or in base64; it wins over IDP_PRIVATE_KEY_FILE",
      fallback: null,
    },
    (key) => key,
  ),
  privateKeyEnv: text(
    {
      kept: "everywhere",
      isIdentity: true,
      commands: connecting,
      help: "name of the variable that holds the private key: never the key itself",
      fallback: null,
    },
    parseVariableName,
  ),
  privateKeyId: text(
    {
      variables: ["IDP_PRIVATE_KEY_ID", "OKTA_PRIVATE_KEY_ID"],
      kept: "everywhere",
      isIdentity: true,
      commands: connecting,
      help: "kid of a PEM key, or the key of a JWKS to use",
      fallback: null,
    },
    parseKeyId,
  ),
  scopes: list(
    {
      variables: ["IDP_SCOPES", "OKTA_SCOPES"],
      kept: "everywhere",
      separator: /[\s,]+/,
      commands: ["setup", ...connecting],
      help: "scopes to ask for, in place of the default list",
      fallback: defaultScopes,
    },
    parseScopes,
  ),
  scopePrefix: text(
    {
      variables: ["IDP_SCOPE_PREFIX"],
      kept: "everywhere",
      commands: ["setup", ...connecting],
      help: "okta or idp (default: asked from the org)",
      fallback: null,
    },
    parseScopePrefix,
  ),
  httpsProxy: text(
    {
      variables: ["https_proxy", "HTTPS_PROXY"],
      commands: ["setup", ...connecting],
      help: "proxy for the org: http://host:port",
      fallback: null,
    },
    parseProxy,
  ),
  noProxy: text(
    {
      variables: ["no_proxy", "NO_PROXY"],
      commands: ["setup", ...connecting],
      help: "hosts that are reached without the proxy",
      fallback: "",
    },
    (hosts) => hosts,
  ),
  concurrency: number({
    flag: "--concurrency <n>",
    kept: "everywhere",
    commands: connecting,
    group: "Connection:",
    help: "maximum number of parallel requests",
    unit: "requests",
    least: 1,
    most: 50,
    isWhole: true,
    // The provider allows 35 at once at the least (https://developer.okta.com/docs/reference/rl2-limits/); this leaves room for others.
    fallback: 20,
  }),
  timeoutMs: number({
    flag: "--timeout <seconds>",
    kept: "everywhere",
    commands: connecting,
    group: "Connection:",
    help: "time limit for one request",
    unit: "seconds",
    least: 0.001,
    most: 600,
    isWhole: false,
    factor: 1000,
    fallback: 30_000,
  }),

  fromArtifacts: path({
    flag: "--from-artifacts <file>",
    commands: ["evaluate", "explain", "fix"],
    help: "evidence that `scan` or `collect` saved, - for stdin: nothing is asked from the org",
  }),
  saveArtifacts: path({
    flag: "--save-artifacts <file>",
    kept: "organization",
    isOfOne: true,
    commands: ["scan", "collect"],
    help: "save the evidence for `evaluate`; collect needs it, - for stdout",
  }),
  isStreamed: onOff({
    flag: "--no-stream",
    kept: "everywhere",
    commands: ["scan", "follow"],
    help: "do not send the run to the gateway",
  }),

  check: list(
    {
      flag: "--check <names>",
      kept: "everywhere",
      commands: choosing,
      group: "Checks:",
      help: "run only these checks: names or V-, SV- or OKTA-APP- ids, separated by commas",
      words: checkNames,
      fallback: null,
    },
    (names) => {
      if (names.length > 0) return names;
      throw new InvalidSetting("expected names or ids of checks; run `scanstream explain` for the list");
    },
  ),
  exclude: list(
    {
      flag: "--exclude <names>",
      kept: "everywhere",
      commands: choosing,
      group: "Checks:",
      help: "checks to skip",
      words: checkNames,
      fallback: [],
    },
    (names) => names,
  ),
  severity: list(
    {
      flag: "--severity <levels>",
      kept: "everywhere",
      commands: choosing,
      group: "Checks:",
      help: "run only checks of these severities: high, medium, low (CAT I, II, III), separated by commas",
      words: ["high", "medium", "low"],
      fallback: [],
    },
    (levels) => {
      const severities = levels.map((level) => parseSeverity(level)).filter((level) => level !== null);
      if (levels.length > 0 && severities.length === levels.length) return severities;
      throw new InvalidSetting(`${JSON.stringify(levels.join(","))}: expected one or more of ${severityWords}`);
    },
  ),
  approvedIssuers: list(
    {
      variables: ["IDP_APPROVED_ISSUERS"],
      kept: "everywhere",
      separator: /;/,
      commands: [...connecting, "evaluate", "diff"],
      help: "certificate issuers that the smart card check accepts instead of the DOD's, separated by semicolons (OU=DoD;OU=ECA); a leading + adds to them",
      fallback: null,
    },
    parseIssuers,
  ),
  parameters: path({
    flag: "--parameters <file>",
    kept: "everywhere",
    commands: ["scan", "collect", "evaluate", "explain", "fix", "diff", "follow"],
    group: "Checks:",
    help: "the organization's own limits, such as idle minutes (JSON)",
  }),
  benchmark: path({
    flag: "--benchmark <file>",
    kept: "everywhere",
    commands: ["scan", "collect", "evaluate", "explain", "fix", "report", "verify", "follow"],
    group: "Checks:",
    help: "another revision of the STIG: DISA's zip, or the XCCDF in it",
  }),

  waivers: path({
    flag: "--waivers <file>",
    kept: "everywhere",
    commands: deciding,
    group: "Decisions:",
    help: "waivers: accepted findings, with an expiry date",
  }),
  attestations: path({
    flag: "--attestations <file>",
    kept: "everywhere",
    commands: deciding,
    group: "Decisions:",
    help: "attestations: manual answers for checks that the API cannot decide",
  }),
  decisionsFromGateway: onOff({
    flag: "--decisions-from-gateway",
    kept: "everywhere",
    commands: deciding,
    group: "Decisions:",
    help: "also use the decisions stored at the gateway (SCANSTREAM_URL)",
  }),
  checklist: path({
    flag: "--checklist <file>",
    kept: "everywhere",
    isOfOne: true,
    commands: reporting,
    group: "Decisions:",
    help: "an edited CKLB or CKL checklist; cklb and ckl reports keep its answers",
  }),

  format: list(
    {
      flag: "--format <formats>",
      kept: "everywhere",
      commands: reporting,
      group: "Report and exit code:",
      help: `report formats, separated by commas (default: table): ${formatNames.join(", ")}, or all`,
      words: [...formatNames, "all"],
      fallback: ["table"],
    },
    parseFormats,
  ),
  output: path({
    flag: "--output <dir>",
    kept: "everywhere",
    isPerOrganization: true,
    commands: reporting,
    group: "Report and exit code:",
    help: "directory for the reports, one scan.<ext> for each format",
  }),
  sign: path({
    flag: "--sign <file>",
    variables: ["SCANSTREAM_SIGNING_KEY_FILE"],
    commands: [...reporting, "collect", "history", "follow"],
    group: "Report and exit code:",
    help: "sign the written files with this private key",
  }),
  signingKey: text(
    {
      variables: ["SCANSTREAM_SIGNING_KEY"],
      commands: [...reporting, "collect", "history", "follow"],
      help: "the private key that signs written files, as PEM",
      fallback: null,
    },
    (key) => key,
  ),
  status: list(
    {
      flag: "--status <states>",
      kept: "everywhere",
      commands: reporting,
      group: "Report and exit code:",
      help: "list only these states in table, html, markdown and csv: pass, fail, manual, n/a",
      words: ruleStates,
      fallback: null,
    },
    (names) => {
      const states = parseStates(names.join(","));
      if (states !== null) return states;
      throw new InvalidSetting(`${JSON.stringify(names.join(","))}: expected ${stateWords}`);
    },
  ),
  failOn: text(
    {
      flag: "--fail-on <what>",
      kept: "everywhere",
      commands: gating,
      group: "Report and exit code:",
      help: "exit 1 for these findings: fail, manual, never, fail:high, manual:medium, … (default: fail)",
      words: gates,
      fallback: toGate("fail"),
    },
    toGate,
  ),
  failOnNew: onOff({
    flag: "--fail-on-new",
    kept: "everywhere",
    commands: gating,
    group: "Report and exit code:",
    help: "exit 1 only for findings that are not in the baseline",
  }),
  allowUnread: onOff({
    flag: "--allow-unread",
    kept: "everywhere",
    commands: gating,
    group: "Report and exit code:",
    help: "exit 0 although rules have no result because something could not be read",
  }),
  poamPerFinding: onOff({
    flag: "--poam-per-finding",
    kept: "everywhere",
    commands: reporting,
    group: "Report and exit code:",
    help: "poam: one line for each finding, instead of for each rule",
  }),
  baseline: path({
    flag: "--baseline <file>",
    kept: "everywhere",
    isOfOne: true,
    commands: gating,
    group: "Report and exit code:",
    help: "compare with an earlier scan.json (new, unchanged, resolved)",
  }),
  latest: onOff({ flag: "--latest", commands: ["report"], help: "use the newest scan" }),

  textFormat: word({ flag: "--format <format>", commands: ["doctor"], help: "text or json", words: ["text", "json"] }),
  explainFormat: word({
    flag: "--format <format>",
    commands: ["explain"],
    help: "text, json or markdown",
    words: ["text", "json", "markdown"],
  }),
  diffFormat: words({
    flag: "--format <formats>",
    commands: ["diff"],
    help: "text, json, or both separated by a comma (default: text)",
    words: ["text", "json"],
  }),
  historyFormat: words({
    flag: "--format <formats>",
    commands: ["history"],
    help: "table, json, csv (default: table)",
    words: ["table", "json", "csv"],
  }),
  lineFormat: word({
    flag: "--format <format>",
    commands: ["follow"],
    help: "table or ndjson (default: table)",
    words: ["table", "ndjson"],
  }),
  writeTo: path({
    flag: "--output <dir>",
    commands: ["fix", "diff", "history"],
    help: "directory for the files; fix needs a new one",
  }),
  lineFile: path({
    flag: "--output <file>",
    commands: ["follow"],
    help: "also append every line to this NDJSON file, for `history`",
  }),

  state: text(
    {
      flag: "--state <dir>",
      commands: ["follow"],
      help: "directory for saved state (default: .scanstream/follow)",
      fallback: ".scanstream/follow",
    },
    (directory) => {
      if (directory !== "") return directory;
      throw new InvalidSetting("expected a directory");
    },
  ),
  intervalMs: number({
    flag: "--interval <seconds>",
    commands: ["follow"],
    help: "time between two polls of the System Log",
    unit: "seconds",
    least: 2,
    most: 3600,
    isWhole: false,
    factor: 1000,
    fallback: 10_000,
  }),
  reconcileMs: number({
    flag: "--reconcile <hours>",
    commands: ["follow"],
    help: "time between two full scans",
    unit: "hours",
    least: 0.001,
    // A hundred days: longer than the provider keeps its log.
    most: 2400,
    isWhole: false,
    factor: 3_600_000,
    fallback: 6 * 3_600_000,
  }),
  once: onOff({ flag: "--once", commands: ["follow"], help: "catch up from the saved state, then exit" }),
  untilClean: onOff({ flag: "--until-clean", commands: ["follow"], help: "exit 0 as soon as no check fails" }),
  // The file's `fail_on` is about a scan: it must not end a monitor.
  endOn: text(
    {
      flag: "--fail-on <what>",
      commands: ["follow"],
      help: "exit 1 when a new finding of this kind appears: fail, manual, never, fail:high, … (default: never)",
      words: gates,
      fallback: toGate("never"),
    },
    toGate,
  ),
  withAddresses: onOff({
    flag: "--with-addresses",
    commands: ["follow"],
    help: "include the IP address of who made a change",
  }),

  fromReports: path({
    flag: "--from-reports <dir>",
    commands: ["history"],
    help: "use the reports (scan.json) and change files of follow in this folder, without a gateway",
  }),
  rule: list(
    {
      flag: "--rule <names>",
      commands: ["history"],
      help: "only these rules, separated by commas",
      words: checkNames,
      fallback: null,
    },
    (names) => {
      if (names.length > 0) return names;
      throw new InvalidSetting("expected the name of a rule, such as V-273186");
    },
  ),
  days: number({
    flag: "--days <n>",
    commands: ["history"],
    help: "UTC days that end today, 1 to 400",
    unit: "days",
    least: 1,
    most: 400,
    isWhole: true,
    fallback: 30,
  }),
  by: text(
    {
      flag: "--by <view>",
      commands: ["history"],
      help: "group the rules by control (SP 800-53)",
      words: ["control"],
      fallback: null,
    },
    (view) => {
      if (view === "control") return view;
      throw new InvalidSetting(`${JSON.stringify(view)}: expected control`);
    },
  ),

  key: path({ flag: "--key <file>", commands: ["verify"], help: "the signer's public key (required)" }),
  expectedOrg: text(
    { flag: "--org-url <url>", commands: ["verify"], help: "refuse files about any other org", fallback: null },
    parseOrgUrl,
  ),
  since: text(
    { flag: "--since <time>", commands: ["verify"], help: "refuse a scan that ended before this time", fallback: null },
    (time) => {
      if (!Number.isNaN(Date.parse(time))) return time;
      throw new InvalidSetting(`${JSON.stringify(time)}: expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z`);
    },
  ),
  yes: onOff({
    flag: "--yes",
    commands: ["setup"],
    help: "no questions and no scan: check once, and exit 2 if something is left to do",
  }),

  quiet: onOff({
    flag: "--quiet",
    commands: ["scan", "collect", "evaluate", "fix", "follow"],
    group: "Output:",
    help: "print only problems, no progress",
  }),
  verbose: onOff({
    flag: "--verbose",
    commands: ["doctor", "scan", "collect", "evaluate", "fix", "follow"],
    group: "Output:",
    help: "print every rule and finding; on stderr, the time of each request, wait, collector and check",
  }),
} as const;

export type SettingName = keyof typeof table;

/** What each setting comes to. */
export type Values = { readonly [Name in SettingName]: (typeof table)[Name]["fallback"] };

/** Conditions of `--fail-on`, and the text for messages. */
export interface Gate {
  readonly text: string;
  readonly conditions: FailOn;
}

function toGate(given: string): Gate {
  const conditions = parseFailOn(given);
  if (conditions !== null) return { text: given, conditions };
  throw new InvalidSetting(failOnProblem(given));
}

function parseFormats(items: readonly string[]): readonly string[] {
  const names = [...new Set(items.flatMap((name) => (name === "all" ? formatNames : [name])))];
  const unknown = names.filter((name) => !formatNames.includes(name));
  if (names.length > 0 && unknown.length === 0) return names;
  const which = unknown.map((name) => {
    const nearest = nearestName(name, formatNames);
    return `unknown format ${JSON.stringify(name)}${nearest === null ? "" : ` (did you mean ${nearest}?)`}; `;
  });
  throw new InvalidSetting(
    `${JSON.stringify(items.join(","))}: ${which.join("")}expected one or more of ${[...formatNames, "all"].join(", ")}`,
  );
}

export async function checkNames() {
  const { catalog } = await import("../catalog/catalog.ts");
  return catalog.map(({ name, rule }) => ({ value: name, description: `${rule.vuln_id} ${rule.title}` }));
}
