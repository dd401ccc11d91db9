import type { DiffSide } from "../../shared/schemas/diff.ts";
import type { CheckResult } from "../../shared/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readOptionFile } from "../../command_line/files.ts";
import { builtIn, catalog } from "../catalog/catalog.ts";
import { evaluateCheck } from "../evaluate.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsSchema, parseArtifacts } from "../evidence/artifacts_document.ts";
import { maxReportBytes, parseReport } from "../reports/read_report.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { toContext } from "../run_scan.ts";

/** One of the two files of `diff`. */
export interface ComparedFile {
  readonly about: DiffSide;
  readonly results: readonly CheckResult[];
  /** Null for a report. */
  readonly artifacts: CollectedArtifacts | null;
}

/** A file that was read; evidence is evaluated by the limits of its organization. */
export interface ReadFile {
  readonly orgUrl: string;
  readonly kind: "report" | "evidence";
  readonly compare: (limits: Pick<Parameters<typeof toContext>[0], "orgPolicy">) => ComparedFile;
}

/** Reads a report or an evidence file; throws `UsageError` naming the file and what is wrong. */
export async function readComparedFile(file: string): Promise<ReadFile> {
  return readOptionFile({ option: "the file", file, maxBytes: maxReportBytes }, (content) => {
    try {
      return parseComparedFile(content, file);
    } catch (error) {
      const problem = (error as Error).message.replace(/^Cannot read the evidence: /, "");
      throw new UsageError([`Cannot compare ${JSON.stringify(file)}: ${problem}`], { cause: error });
    }
  });
}

function parseComparedFile(content: string, file: string): ReadFile {
  const schema = /"schema"\s*:\s*"(scanstream\.[a-z]+\/\d+(?:\.\d+)?)"/.exec(content)?.[1];
  if (schema === artifactsSchema) {
    const { scan, evaluated_at: evaluatedAt, checks, artifacts } = parseArtifacts(content);
    const { org_url: orgUrl, engine, ended_at } = scan;
    const about = { file, org_url: orgUrl, benchmark: builtIn.benchmark.id, ended_at, scan_id: null };
    const evaluated = catalog.filter(({ name }) => checks.includes(name));
    return {
      orgUrl,
      kind: "evidence",
      compare: (limits) => {
        const context = toContext({ engine, orgUrl, evaluatedAt, ...limits });
        return { about, results: evaluated.map((check) => evaluateCheck(check, artifacts, context)), artifacts };
      },
    };
  }
  if (schema !== "scanstream.report/1") {
    // A file that is broken JSON is refused for that.
    if (schema === undefined) parseJsonText(content);
    const found = schema === undefined ? "it has no schema" : `it has the schema "${schema}"`;
    throw new TypeError(`${found}: expected a report (--format json) or evidence (--save-artifacts)`);
  }
  const { scan, checks, benchmark = builtIn.benchmark.id } = parseReport(content);
  const about = { file, org_url: scan.org_url, benchmark, ended_at: scan.ended_at, scan_id: scan.id };
  return { orgUrl: scan.org_url, kind: "report", compare: () => ({ about, results: checks, artifacts: null }) };
}
