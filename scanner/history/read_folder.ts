import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import * as v from "valibot";
import { readText } from "../../command_line/files.ts";
import { readProblem } from "../../shared/error_code.ts";
import { dayMs } from "../../shared/history/rule_history.ts";
import { isUnseen, toRuleResult, unseen } from "../../shared/history/observation.ts";
import { parseJsonObject, type JsonObject } from "../../shared/json.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { changeLineSchema } from "../../shared/schemas/change.ts";
import { watchSchema } from "../../shared/schemas/history.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { listSome } from "../checks/parsing/names.ts";
import { evidenceName } from "../runs/kept_runs.ts";
import { addMonitor, boundsOf, type OrganizationInput } from "./history_input.ts";

/** As long as a gateway keeps a history by default. */
const maxAgeMs = 400 * dayMs;
/** The clock of the machine that scanned may be ahead of this one's. */
const maxAheadMs = 300_000;
const maxFileBytes = 512 * 1_048_576;

/**
 * Reads the reports and change files of a folder and those below it. `used`: how many files say something; `problems`: files and
 * lines that were left out and why, a line each. Throws `UsageError` where the folder cannot be read.
 */
export async function readFolder(directory: string, nowMs: number) {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    throw new UsageError([
      `Cannot read --from-reports ${JSON.stringify(directory)}: ${readProblem(error) ?? "unknown"}`,
    ]);
  });
  const organizations = new Map<string, OrganizationInput>();
  const problems: string[] = [];
  const others: string[] = [];
  let used = 0;
  // The evidence of kept runs lies beside their reports.
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== evidenceName)
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const path of paths.sort()) {
    const name = relative(directory, path);
    const problem = await readOne(path, name);
    if (problem === null) used += 1;
    else if (problem === "other") others.push(name);
    else problems.push(`${name}: left out: ${problem}`);
  }
  const skipped = `Skipped ${countOf(others.length, "file")}, neither a JSON report of scan nor lines of follow: ${listSome(others, { most: 20, maxLength: 300 })}`;
  return {
    organizations: [...organizations.values()],
    used,
    problems: others.length === 0 ? problems : [skipped, ...problems],
  };

  /** Null, why the file is left out, or `other` for a file of another program. */
  async function readOne(path: string, name: string): Promise<string | null> {
    let text: string;
    try {
      text = await readText(path, maxFileBytes);
    } catch (error) {
      const problem = error instanceof Error && !("syscall" in error) ? error.message : readProblem(error);
      return `it cannot be read: ${problem ?? "unknown"}`;
    }
    const whole = parseJsonObject(text);
    if (whole?.["schema"] === "scanstream.report/1") return addReport(whole);
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return lines.some((line) => isLine(parseJsonObject(line))) ? addLines(lines, name) : "other";
  }

  function addReport(value: JsonObject): string | null {
    const parsed = v.safeParse(reportSchema, value, { abortEarly: true });
    if (!parsed.success)
      return `it is not a whole report: ${v.getDotPath(parsed.issues[0]) ?? "it"} is not as in a report`;
    const { scan, checks, org_policy: policy } = parsed.output;
    const problem = timeProblem(scan.started_at, scan.ended_at, nowMs);
    if (problem !== null) return problem;
    if (scan.status !== "completed") return `its scan was ${scan.status}; only completed scans count`;
    const [from, to] = [Date.parse(scan.started_at), Date.parse(scan.ended_at)];
    if (to < nowMs - maxAgeMs) return `it is older than 400 days: it ends ${scan.ended_at}`;
    const { scans, vulnIds, documented } = organizationOf(originOf(scan.org_url));
    const results = checks.map((check) => {
      const isNothingSeen = check.findings.some((finding) => isUnseen(finding.resource.type, finding));
      return [
        check.check,
        toRuleResult(isNothingSeen ? unseen : check, { severity: check.severity, cause: "scan" }),
      ] as const;
    });
    scans.set(scan.id, { runId: scan.id, began: from, from, to, results: Object.fromEntries(results) });
    // A document that was changed without a new date is another version.
    const digest = policy === undefined ? "" : `, SHA-256 ${policy.sha256}`;
    for (const { check, vuln_id: vulnId, findings } of checks) {
      vulnIds.set(check, vulnId);
      for (const { rests_on: document } of findings)
        if (document !== undefined) documented.push({ document: `${document}${digest}`, check, from, to });
    }
    return null;
  }

  /** A line that a process which was killed wrote half is left out, and so is one that follow does not write. */
  function addLines(texts: readonly string[], name: string): string | null {
    const lines = texts.flatMap((text, index) => {
      const line = parseLine(text, nowMs);
      if (typeof line !== "string") return [line];
      problems.push(`${name}: line ${index + 1} left out: ${line}`);
      return [];
    });
    if (lines.length === 0) return "no line of it can be used";
    if (lines.every(({ to }) => to < nowMs - maxAgeMs)) return "it is older than 400 days";
    for (const [orgUrl, own] of Map.groupBy(lines, (line) => line.orgUrl)) {
      const watched = own.filter(({ change }) => change === null);
      if (watched.length === 0)
        problems.push(
          `${name}: it does not say when the follower looked: the time from its first to its last line counts as known`,
        );
      const ids = own.flatMap(({ monitorId }) => monitorId ?? []);
      addMonitor(organizationOf(orgUrl), {
        // Lines of another program may name no monitor: then the file is one.
        ids: new Set(ids.length === 0 ? [name] : ids),
        spans: watched.length === 0 ? [boundsOf(own)] : watched,
        lines: new Map(own.flatMap(({ change }) => (change === null ? [] : [[change.id, change]]))),
      });
    }
    return null;
  }

  function organizationOf(orgUrl: string): OrganizationInput {
    const empty = { orgUrl, scans: new Map(), monitors: [], vulnIds: new Map(), documented: [] };
    const known = organizations.get(orgUrl) ?? empty;
    organizations.set(orgUrl, known);
    return known;
  }
}

const lineSchema = v.variant("schema", [watchSchema, changeLineSchema]);

function isLine(value: JsonObject | null): boolean {
  return value?.["schema"] === "scanstream.change/1" || value?.["schema"] === "scanstream.watch/1";
}

/** The line, or why it cannot be used; without a change the follower looked in its time. */
function parseLine(text: string, nowMs: number) {
  const parsed = v.safeParse(lineSchema, parseJsonObject(text));
  if (!parsed.success) return "it is no line of follow";
  const line = parsed.output;
  if (line.org_url === undefined) return "it names no org_url";
  const change = line.schema === "scanstream.change/1" ? line : null;
  const { from, to } = line.schema === "scanstream.watch/1" ? line : { from: line.seen_at, to: line.seen_at };
  const about = { orgUrl: originOf(line.org_url), monitorId: line.monitor_id, change };
  return timeProblem(from, to, nowMs) ?? { ...about, from: Date.parse(from), to: Date.parse(to) };
}

function timeProblem(from: string, to: string, nowMs: number): string | null {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(begin) || Number.isNaN(end)) return `${from} to ${to} is no time`;
  if (begin > nowMs + maxAheadMs) return `it begins in the future, ${from}`;
  return end < begin ? `it ends before it begins: ${from} to ${to}` : null;
}
