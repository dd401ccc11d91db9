import * as v from "valibot";
import { issueText } from "../../shared/issue_text.ts";
import { AppError } from "../../shared/app_error.ts";
import type { DiffSide } from "../../shared/schemas/diff.ts";
import type { CheckResult } from "../../shared/report.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readOptionFile } from "../../command_line/files.ts";
import { builtIn, catalog } from "../catalog/catalog.ts";
import { evaluateCheck } from "../evaluate.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsSchema, parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { explainJsonError, parseJsonText } from "../evidence/json_text.ts";
import { toContext } from "../run_scan.ts";

/** One of the two files of `diff`. */
export interface ComparedFile {
  readonly about: DiffSide;
  readonly results: readonly CheckResult[];
  /** Null for a report. */
  readonly artifacts: CollectedArtifacts | null;
}

/** Some hundred thousand findings, or the evidence of an org with tens of thousands of apps. */
const maxComparedBytes = 256 * 1_048_576;
const bounds = { maxDepth: 20, maxParts: 4_000_000 } as const;

/** A file that was read; evidence is evaluated by the limits of its organization. */
export interface ReadFile {
  readonly orgUrl: string;
  readonly kind: "report" | "evidence";
  readonly compare: (limits: Limits) => ComparedFile;
}

type Limits = Pick<Parameters<typeof toContext>[0], "orgPolicy">;

/** Reads a report or an evidence file; throws `UsageError` naming the file and what is wrong. */
export async function readComparedFile(file: string): Promise<ReadFile> {
  const source = { option: "the file", file, maxBytes: maxComparedBytes };
  return readOptionFile(source, (content) => {
    const schema = /"schema"\s*:\s*"(scanstream\.[a-z]+\/\d+(?:\.\d+)?)"/.exec(content)?.[1];
    if (schema === "scanstream.report/1") {
      const report = readReport(content, file);
      return { orgUrl: report.about.org_url, kind: "report", compare: () => report };
    }
    if (schema === artifactsSchema) {
      const document = parseOrRefuse(content, file);
      const compare = (limits: Limits) => evaluateDocument(document, { file, limits });
      return { orgUrl: document.scan.org_url, kind: "evidence", compare };
    }
    // A file that is broken JSON is refused for that.
    if (schema === undefined) parseJson(content, file);
    const found = schema === undefined ? "it has no schema" : `it has the schema "${schema}"`;
    throw refusal(file, `${found}: expected a report (--format json) or evidence (--save-artifacts)`);
  });
}

function parseJson(content: string, file: string): unknown {
  try {
    return parseJsonText(content, bounds);
  } catch (error) {
    throw refusal(file, explainJsonError(error, content));
  }
}

function readReport(content: string, file: string): ComparedFile {
  const parsed = v.safeParse(reportSchema, parseJson(content, file), { abortEarly: true });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw refusal(file, issueText(issue));
  }
  const { scan, checks, benchmark: benchmarkId = builtIn.benchmark.id } = parsed.output;
  return {
    about: { file, org_url: scan.org_url, benchmark: benchmarkId, ended_at: scan.ended_at, scan_id: scan.id },
    results: checks,
    artifacts: null,
  };
}

function evaluateDocument(
  { scan, evaluated_at: evaluatedAt, checks, artifacts }: ArtifactsDocument,
  { file, limits }: { readonly file: string; readonly limits: Limits },
): ComparedFile {
  const context = toContext({ engine: scan.engine, orgUrl: scan.org_url, evaluatedAt, ...limits });
  const results = catalog
    .filter(({ name }) => checks.includes(name))
    .map((check) => evaluateCheck(check, artifacts, context));
  return {
    about: { file, org_url: scan.org_url, benchmark: builtIn.benchmark.id, ended_at: scan.ended_at, scan_id: null },
    results,
    artifacts,
  };
}

function parseOrRefuse(content: string, file: string): ArtifactsDocument {
  try {
    return parseArtifacts(content);
  } catch (error) {
    if (error instanceof AppError) throw refusal(file, error.message.replace(/^Cannot read the evidence: /, ""));
    throw error;
  }
}

function refusal(file: string, problem: string): UsageError {
  return new UsageError([`Cannot compare ${JSON.stringify(file)}: ${problem}`]);
}
