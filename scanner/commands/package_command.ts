import { writeFile } from "node:fs/promises";
import * as v from "valibot";
import { requireGatewayAccess } from "../../command_line/gateway_access.ts";
import { createGatewayCall, GatewayRefusal } from "../../command_line/gateway_call.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { explainWriteError } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { summarizeChecks, type Report } from "../../shared/report.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Revision } from "../catalog/catalog.ts";
import { causesOf } from "../causes/causes.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { readApprovedIssuers } from "../config.ts";
import { applyDecisions } from "../decisions/decisions.ts";
import { reportFormats } from "../reports/formats.ts";
import { sha256 } from "../digest.ts";
import { signStatement } from "../signing/envelope.ts";
import { readSigner } from "../signing/keys.ts";
import { statementName } from "../signing/sign_files.ts";
import { findRevision } from "../revisions/revision_store.ts";
import { makeStatement } from "../signing/statement.ts";
import { makeZip, type ZipEntry } from "../signing/zip.ts";
import { readJudging, type JudgingFlags } from "./judging_options.ts";
import { evaluateSaved } from "./saved_evidence.ts";

export interface PackageFlags extends JudgingFlags {
  readonly output?: string;
  readonly fromArtifacts?: string;
  readonly latest?: boolean;
  readonly sign?: string;
}

const formats = ["json", "cklb", "ckl", "xccdf", "oscal", "poam", "poam-json", "html"];

/** What a package is made of. */
interface Packed {
  readonly revision: Revision;
  readonly report: Report;
  /** As it was saved; null: a gateway keeps none. */
  readonly evidence: string | null;
  readonly parameters: ParameterValues;
}

/** `package`: everything that an assessor loads, in one zip; the same input gives the same bytes. */
export async function packageCommand(scanId: string | undefined, flags: PackageFlags, io: CommandIo): Promise<number> {
  const { output } = flags;
  if (output === undefined || !/\.zip$/i.test(output))
    throw new UsageError([
      `--output ${output === undefined ? "FILE is missing" : JSON.stringify(output)}: expected the name of a zip file, such as okta.zip`,
    ]);
  const sources = [flags.fromArtifacts, scanId, flags.latest === true ? "latest" : undefined];
  if (sources.filter((source) => source !== undefined).length !== 1)
    throw new UsageError(["package: expected exactly one of --from-artifacts FILE, the id of a scan, or --latest"]);
  const signer = await readSigner(flags.sign, io.env);
  const { revision, report, evidence, parameters } =
    flags.fromArtifacts === undefined
      ? await fromGateway(scanId ?? null, flags, io)
      : await fromEvidence(flags.fromArtifacts, flags, io);
  const options = { color: false, width: 120, toolVersion: io.toolVersion, revision };
  const entries: ZipEntry[] = reportFormats
    .filter(({ name }) => formats.includes(name))
    .map((format) => ({ name: `scan.${format.extension}`, content: Buffer.from(format.render(report, options)) }));
  if (evidence !== null) entries.push({ name: "evidence.json", content: Buffer.from(evidence) });
  entries.push({ name: "manifest.json", content: Buffer.from(manifestOf(report, entries, io.toolVersion)) });
  if (signer !== null) {
    const facts = {
      scan: report.scan,
      revision,
      report,
      evidence: evidence === null ? null : sha256(evidence),
      toolVersion: io.toolVersion,
      parameters,
      approvedIssuers: readApprovedIssuers(io.env),
    };
    const statement = signStatement(makeStatement(entries, facts), signer);
    entries.push({ name: statementName("scan"), content: Buffer.from(statement) });
  }
  await writeFile(output, makeZip(entries)).catch((error: unknown) => {
    throw new UsageError([explainWriteError(`--output ${JSON.stringify(output)}`, error)]);
  });
  if (flags.quiet !== true) {
    const signed = signer === null ? "not signed: add --sign KEY" : `signed by ${signer.keyId}`;
    io.terminal.write(`Wrote ${printable(output)}: ${countOf(entries.length, "file")}, ${signed}\n`);
  }
  return exitCodes.ok;
}

function manifestOf(report: Report, entries: readonly ZipEntry[], toolVersion: string): string {
  const files = entries
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, content }) => ({ name, size: content.byteLength, sha256: sha256(content) }));
  const { id, org_url, started_at, ended_at } = report.scan;
  const scanner = { name: "scanstream", version: toolVersion };
  const manifest = {
    schema: "scanstream.package/1",
    scan_id: id,
    org_url,
    started_at,
    ended_at,
    benchmark: report.benchmark,
    scanner,
    files,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

async function fromEvidence(file: string, flags: PackageFlags, io: CommandIo): Promise<Packed> {
  const judging = await readJudging(flags, io);
  const { revision, checks, parameters } = judging;
  const { results, document, text } = await evaluateSaved(
    file,
    { selected: checks, isNamed: flags.check !== undefined, parameters },
    io,
  );
  const decisions = await judging.decisionsFor(document.scan.org_url);
  // A waiver that has expired since is in force at the time of the evidence: the same input gives the same package.
  const decided = applyDecisions(results, decisions, Date.parse(document.evaluated_at));
  for (const warning of decided.warnings) io.terminal.write(`${printable(warning)}\n`);
  const id = stableUuid("scan", sha256(text));
  const report: Report = {
    schema: "scanstream.report/1",
    benchmark: revision.benchmark.id,
    scan: { id, tenant_id: null, ...document.scan, status: "completed" },
    summary: summarizeChecks(decided.results),
    checks: decided.results,
    baseline: null,
    causes: causesOf(decided.results, document.artifacts, sha256),
  };
  return { revision, report, evidence: text, parameters };
}

const scansSchema = v.object({ items: v.array(v.object({ id: v.string(), status: v.string() })) });
const timeoutMs = 30_000;
const maxReportBytes = 256 * 1_048_576;

/** A report that a gateway keeps; null: of the newest scan that was completed. */
async function fromGateway(scanId: string | null, flags: PackageFlags, io: CommandIo): Promise<Packed> {
  const { gatewayUrl, apiKey } = requireGatewayAccess(io.env, []);
  const call = createGatewayCall({ url: gatewayUrl, apiKey, timeoutMs, maxAnswerBytes: maxReportBytes });
  const get = (path: string) =>
    call("GET", path, undefined, io.interrupted).catch((error: unknown) => {
      if (error instanceof GatewayRefusal)
        throw new UsageError([`Cannot read ${path} from the gateway: ${error.message}`]);
      throw error;
    });
  let id = scanId;
  if (id === null) {
    const scans = v.safeParse(scansSchema, await get("/api/v1/scans?limit=100"));
    const newest = scans.success ? scans.output.items.find(({ status }) => status === "completed") : undefined;
    if (newest === undefined) throw new UsageError(["--latest: the gateway has no completed scan"]);
    id = newest.id;
  }
  const stored = v.safeParse(reportSchema, await get(`/api/v1/scans/${encodeURIComponent(id)}/report`));
  if (!stored.success)
    throw new UsageError([`The gateway's report of scan ${id} cannot be read: expected a scanstream.report/1`]);
  const revision = await findRevision(flags.benchmark ?? stored.output.benchmark, io.env, "the report's revision");
  return { revision, report: stored.output, evidence: null, parameters: {} };
}
