import { ruleStates } from "../../shared/rule_result.ts";
import { parseFailOn } from "../decisions/fail_on.ts";
import { lastRun } from "../runs/kept_runs.ts";
import { formatKinds } from "../reports/report_format.ts";
import { connecting, formats, list, number, onOff, path, section, text, word, type CommandName } from "./setting.ts";
import {
  checkNames,
  defaultScopes,
  gates,
  organizationNames,
  parseClientId,
  parseKeyId,
  parseOrgUrl,
  parseProxy,
  parseScopes,
  parseSeverities,
  parseStatuses,
  parseTime,
  requireNames,
} from "./values.ts";

/**
 * Every setting of the scanner, each in one row: its flag, variable and place in `scanstream.config.json`, its parser, default and
 * help, and the commands that take it. Options of the command line, the schema of the file, completion and
 * `docs/reference/settings.md` are made from this table.
 */

const configured: readonly CommandName[] = [...connecting, "evaluate", "diff"];
const choosing: readonly CommandName[] = ["scan", "collect", "evaluate", "fix", "report", "follow"];
const deciding: readonly CommandName[] = ["scan", "evaluate", "fix", "report", "follow"];
const reporting: readonly CommandName[] = ["scan", "evaluate", "report"];
const gating: readonly CommandName[] = ["scan", "evaluate"];
const kept = "everywhere";
const formatNames = formatKinds.map(({ name }) => name);

export const table = {
  ...section({ group: "Organization:", commands: configured }).rows({
    config: path("--config <file>", "configuration file, else scanstream.config.json", {
      commands: ["setup", ...configured, "verify"],
    }),
    hasConfig: onOff("--no-config", "ignore scanstream.config.json", { commands: [...configured, "verify"] }),
    org: list("--org <names>", "organization of the file; scan, doctor: several", (names) => names, {
      words: organizationNames,
    }),
    parallel: number("--parallel <n>", "organizations at the same time", {
      commands: ["scan"],
      kept: "top",
      unit: "organizations",
      range: [1, 32],
      fallback: 4,
    }),
  }),
  ...section({ group: "Organization:", commands: connecting, kept, isIdentity: true }).rows({
    orgUrl: text("--org-url <url>", "address of the org", parseOrgUrl, {
      variables: ["IDP_ORG_URL", "OKTA_ORG_URL", "OKTA_CLIENT_ORGURL"],
      commands: ["setup", ...connecting, "diff"],
    }),
    clientId: text("--client-id <id>", "its service app", parseClientId, {
      variables: ["IDP_CLIENT_ID", "OKTA_CLIENT_ID", "OKTA_CLIENT_CLIENTID"],
      commands: ["setup", ...connecting],
    }),
    privateKeyFile: path("--private-key-file <file>", "private key file", {
      variables: ["IDP_PRIVATE_KEY_FILE", "OKTA_PRIVATE_KEY_FILE"],
    }),
    privateKeyEnv: text(null, "name of the variable that holds the private key", String),
    privateKeyId: text(null, "kid of a PEM key, or the key of a JWKS to use", parseKeyId, {
      variables: ["IDP_PRIVATE_KEY_ID", "OKTA_PRIVATE_KEY_ID"],
    }),
    privateKey: text(null, "the private key itself; it wins over the file", String, {
      variables: ["IDP_PRIVATE_KEY", "OKTA_PRIVATE_KEY", "OKTA_CLIENT_PRIVATEKEY"],
      kept: undefined,
    }),
  }),
  ...section({ group: "Organization:", commands: connecting, kept }).rows({
    // The provider allows 35 at once at the least (https://developer.okta.com/docs/reference/rl2-limits/); others need some.
    concurrency: number("--concurrency <n>", "maximum number of parallel requests", {
      unit: "requests",
      range: [1, 50],
      fallback: 20,
    }),
    timeoutMs: number("--timeout <seconds>", "time limit for one request", { range: [0.001, 600], fallback: 30 }),
  }),
  ...section({ commands: ["setup", ...connecting] }).rows({
    scopes: list(null, "scopes to ask for, in place of the default list", parseScopes, {
      variables: ["IDP_SCOPES", "OKTA_SCOPES"],
      kept,
      fallback: defaultScopes,
    }),
    scopePrefix: word(null, "okta or idp (default: asked from the org)", ["okta", "idp"], {
      variables: ["IDP_SCOPE_PREFIX"],
      kept,
      fallback: null,
    }),
    httpsProxy: text(null, "proxy for the org: http://host:port", parseProxy, {
      variables: ["https_proxy", "HTTPS_PROXY"],
    }),
    noProxy: text(null, "hosts that are reached without the proxy", String, {
      variables: ["no_proxy", "NO_PROXY"],
      fallback: "",
    }),
  }),
  ...section({ group: "Runs:", commands: ["scan", "explain", "fix", "report", "org-policy"] }).rows({
    fromArtifacts: path("--from-artifacts <file>", "saved evidence (- for stdin), offline", {
      commands: ["evaluate", "explain", "fix", "org-policy"],
    }),
    saveArtifacts: path("--save-artifacts <file>", "save the evidence (- for stdout: collect)", {
      commands: ["scan", "collect"],
      kept: "organization",
      isOfOne: true,
    }),
    fresh: onOff("--fresh", "scan again instead of using the last run", {
      commands: ["explain", "fix", "report", "org-policy"],
    }),
    keep: number("--keep <n>", "runs of an org to keep", { kept, unit: "runs", range: [0, 10_000], fallback: 30 }),
    isKept: onOff("--no-keep", "do not keep this run"),
    isStreamed: onOff("--no-stream", "do not send the run to the gateway", { commands: ["scan", "follow"], kept }),
  }),
  ...section({ group: "Rules and decisions:", commands: choosing, kept }).rows({
    check: list("--check <names>", "only these: names, V-, SV- or OKTA-APP- ids", requireNames, { words: checkNames }),
    exclude: list("--exclude <names>", "checks to skip", (names) => names, { words: checkNames, fallback: [] }),
    severity: list("--severity <levels>", "only high, medium or low (CAT I, II, III)", parseSeverities, {
      words: ["high", "medium", "low"],
      fallback: [],
    }),
    orgPolicy: path("--org-policy <file>", "your Access Control policy and limits (JSON)", {
      commands: [...choosing, "explain", "diff"],
    }),
    benchmark: path("--benchmark <file>", "another revision of the STIG: DISA's zip or XCCDF", {
      commands: [...choosing, "explain", "diff", "verify"],
    }),
  }),
  ...section({ group: "Rules and decisions:", commands: deciding, kept }).rows({
    decisions: path("--decisions <file>", "waivers, attestations and plans (JSON)"),
    decisionsFromGateway: onOff("--decisions-from-gateway", "also those at the gateway (SCANSTREAM_URL)"),
    checklist: path("--checklist <file>", "an edited CKLB or CKL, whose answers are kept", {
      commands: reporting,
      isOfOne: true,
    }),
  }),
  ...section({ group: "Report:", commands: reporting, kept }).rows({
    format: formats(`${formatNames.join(", ")}, all`, formatNames),
    output: path("--output <dir>", "directory for the reports: scan.<ext>", { isPerOrganization: true }),
    status: list("--status <states>", "list only pass, fail, manual, n/a", parseStatuses, { words: ruleStates }),
    failOn: text("--fail-on <what>", "exit 1 for fail (default), manual, fail:high, never", parseFailOn, {
      commands: gating,
      words: gates,
      fallback: parseFailOn("fail"),
    }),
    failOnNew: onOff("--fail-on-new", "only for findings that are not in the baseline", { commands: gating }),
    allowUnread: onOff("--allow-unread", "exit 0 although rules could not be read", { commands: gating }),
    baseline: path("--baseline <file>", `an earlier scan.json, or: ${lastRun}`, { isOfOne: true }),
    poamPerFinding: onOff("--poam-per-finding", "poam: a line for each finding, not for each rule"),
  }),
  ...section({ group: "Report:", commands: [...reporting, "collect", "history", "follow"] }).rows({
    sign: path("--sign <file>", "sign the files (SCANSTREAM_SIGNING_KEY_FILE)", {
      variables: ["SCANSTREAM_SIGNING_KEY_FILE"],
    }),
    signingKey: text(null, "the private key that signs written files, as PEM", String, {
      variables: ["SCANSTREAM_SIGNING_KEY"],
    }),
  }),
  ...section({ commands: ["setup"] }).rows({ yes: onOff("--yes", "no questions: check once, exit 2 if not ready") }),
  ...section({ commands: ["doctor", "explain"] }).rows({
    textFormat: word("--format <format>", "text or json", ["text", "json"]),
  }),
  ...section({ group: "Runs:", commands: ["report"] }).rows({
    latest: onOff("--latest", "the newest scan at the gateway"),
  }),
  ...section({ commands: ["diff"] }).rows({ diffFormat: formats("text (default), json", ["text", "json"]) }),
  ...section({ commands: ["fix", "diff", "history"] }).rows({
    writeTo: path("--output <dir>", "directory for the files; fix needs a new one"),
  }),
  ...section({ commands: ["history"] }).rows({
    fromReports: path("--from-reports <dir>", "reports and lines of follow in this folder"),
    rule: list("--rule <names>", "only these rules", requireNames, { words: checkNames }),
    days: number("--days <n>", "UTC days that end today", { unit: "days", range: [1, 400], fallback: 30 }),
    historyFormat: formats("table (default), json, csv", ["table", "json", "csv"]),
  }),
  ...section({ commands: ["verify"] }).rows({
    key: path("--key <file>", "the signer's public key (required)"),
    expectedOrg: text("--org-url <url>", "refuse files about any other org", parseOrgUrl),
    since: text("--since <time>", "refuse a scan that ended before this day, or time with zone", parseTime),
  }),
  ...section({ commands: ["follow"] }).rows({
    state: path("--state <dir>", "saved state (default: .scanstream/follow/HOST)"),
    intervalMs: number("--interval <seconds>", "time between two polls of the System Log", {
      range: [2, 3600],
      fallback: 10,
    }),
    // A hundred days at most: longer than the provider keeps its log.
    reconcileMs: number("--reconcile <hours>", "time between two full scans", { range: [0.001, 2400], fallback: 6 }),
    once: onOff("--once", "catch up from the saved state, then exit"),
    untilClean: onOff("--until-clean", "exit 0 as soon as no check fails; with --once, else 1"),
    // The file's `fail_on` is about a scan: it must not end a monitor.
    endOn: text("--fail-on <what>", "exit 1 for a new fail, manual, … (default: never)", parseFailOn, {
      words: gates,
      fallback: parseFailOn("never"),
    }),
    lineFormat: word("--format <format>", "table or ndjson (default: table)", ["table", "ndjson"]),
    lineFile: path("--output <file>", "append every line to this file, for `history`"),
    withAddresses: onOff("--with-addresses", "include the IP address of who made a change"),
  }),
  ...section({ group: "Report:", commands: choosing }).rows({
    quiet: onOff("--quiet", "print only problems, no progress"),
    verbose: onOff("--verbose", "every rule and finding; each request on stderr", {
      commands: ["doctor", ...choosing],
    }),
  }),
};

export type SettingName = keyof typeof table;

/** The value of each setting. */
export type Values = { readonly [Name in SettingName]: (typeof table)[Name]["fallback"] };
