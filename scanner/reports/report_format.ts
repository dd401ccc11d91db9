import type { Report, CheckResult } from "../../shared/report.ts";
import { type RuleState, stateOf } from "../../shared/rule_result.ts";
import type { Revision, StigRule } from "../catalog/catalog.ts";
import type { Checklist } from "../checklists/checklist.ts";
import { checkComments, findingDetails } from "./result_text.ts";
import { escapeInvisible } from "../../shared/text.ts";
import { controlResults } from "./controls.ts";

/** Everything that a format may know besides the report; it reads no clock, no environment and no terminal. */
export interface RenderOptions {
  /** Colour for a terminal; only the table uses it. */
  readonly color: boolean;
  /** Columns of the terminal; only the table uses it. */
  readonly width: number;
  /** Only what fits one screen; only the table uses it. Absent: everything. */
  readonly isBrief?: boolean;
  /** Version of scanstream, for the formats that name the tool. */
  readonly toolVersion: string;
  /** Documents for people list only rules of these states, CSV only such findings; absent: all. */
  readonly states?: readonly RuleState[];
  /** A plan of action has a line for each finding; absent: for each rule with its plan. */
  readonly isPlanPerFinding?: boolean;
  /** The revision of the STIG that the report was judged by. */
  readonly revision: Revision;
  /** One that people worked in, for the checklists to go on with. */
  readonly checklist?: Checklist;
}

/** One way to write a document. */
export interface Format<Document, Options> {
  /** The word of `--format`. */
  readonly name: string;
  /** The extension of the file that `--output` writes: `scan.<extension>`. */
  readonly extension: string;
  render(document: Document, options: Options): string;
}

/** The formats of `--format`, in the order in which help lists them. `isMachine`: alone on stdout, it is the only thing there. */
export const formatKinds = [
  { name: "table", extension: "txt", isMachine: false },
  { name: "json", extension: "json", isMachine: true },
  { name: "csv", extension: "csv", isMachine: true },
  { name: "sarif", extension: "sarif", isMachine: true },
  { name: "junit", extension: "junit.xml", isMachine: true },
  { name: "ocsf", extension: "ocsf.json", isMachine: true },
  { name: "cklb", extension: "cklb", isMachine: true },
  { name: "ckl", extension: "ckl", isMachine: true },
  { name: "hdf", extension: "hdf.json", isMachine: true },
  { name: "xccdf", extension: "xccdf.xml", isMachine: true },
  { name: "oscal", extension: "oscal.json", isMachine: true },
  { name: "poam", extension: "poam.csv", isMachine: true },
  { name: "html", extension: "html", isMachine: false },
  { name: "markdown", extension: "md", isMachine: false },
] as const;

export type FormatName = (typeof formatKinds)[number]["name"];
export type Renderer = Format<Report, RenderOptions>["render"];

export type RuleOutcome = ReturnType<typeof benchmarkRules>[number];

/** Every rule of the benchmark in its order, with its outcome in this scan; the check is null where it was not selected. */
export function benchmarkRules(report: Report, revision: Revision) {
  const byRule = new Map(report.checks.map((check) => [check.rule_id, check]));
  return revision.checks.map(({ rule }) => {
    const check = byRule.get(rule.rule_id) ?? null;
    const state: RuleState = check === null ? "manual" : stateOf(check);
    const details = check === null ? "" : findingDetails(check, evidenceLine(check));
    return {
      rule,
      check,
      state,
      details,
      comments: check === null ? "Not selected in this scan." : checkComments(check),
    };
  });
}

/** The API calls that the result rests on, each with its time; empty where none was answered. */
export function evidenceLine({ findings }: CheckResult): string {
  const read = findings.find(({ read_from: from }) => from !== undefined)?.read_from;
  return read === undefined ? "" : `Read from ${read}`;
}

/** The rule of a check as DISA wrote it; undefined where the revision has no such rule. */
export function ruleOf(check: CheckResult, revision: Revision): StigRule | undefined {
  return revision.checks.find(({ rule }) => rule.rule_id === check.rule_id)?.rule;
}

/** `V-273186, V-273187`. */
export function idsOf(checks: readonly Pick<CheckResult, "vuln_id">[]): string {
  return checks.map(({ vuln_id: vulnId }) => vulnId).join(", ");
}

/** DISA's category: `CAT II`. */
export function levelOf({ category }: Pick<CheckResult, "category">): string {
  return `CAT ${category}`;
}

/** The org's host name, without a port: what a checklist calls the asset. */
export function hostOf(report: Report): string {
  const { org_url: orgUrl } = report.scan;
  return URL.canParse(orgUrl) ? new URL(orgUrl).hostname.replace(/^\[(.*)\]$/, "$1") : orgUrl;
}

/** The organization as reports name it: the host, with a port that is not the default, since two orgs may share a host. */
export function orgNameOf(report: Report): string {
  return siteOf(report) || hostOf(report);
}

/** Host and port where the org has one that is not the default; else empty. Checklists have a field for it. */
export function siteOf({ scan }: Report): string {
  const url = URL.parse(scan.org_url);
  return url === null || url.port === "" ? "" : url.host;
}

/** The report as it is, and its verdicts by control: schema `scanstream.report/1` (`shared/report.schema.json`). */
export function renderJson(report: Report, { revision }: RenderOptions): string {
  return toJson({ ...report, controls: controlResults(report, revision) });
}

/** A file of JSON that every parser takes: many refuse the escape of half a surrogate pair, so that one becomes U+FFFD. */
export function toJson(value: unknown): string {
  const wellFormed = (_key: string, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part);
  return `${escapeInvisible(JSON.stringify(value, wellFormed, 2))}\n`;
}
