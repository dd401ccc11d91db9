import type { OrgPolicy } from "../org_policy/document.ts";
import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { hasCode } from "../../shared/error_code.ts";
import { parseJsonObject } from "../../shared/json.ts";
import type { Report } from "../../shared/report.ts";
import { historySchema, type History } from "../../shared/schemas/history.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { evaluateCheck } from "../evaluate.ts";
import { parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { sha256 } from "../digest.ts";
import type { Revision } from "../catalog/catalog.ts";
import { toContext } from "../run_scan.ts";
import { NotProven, openEnvelope } from "./envelope.ts";
import type { Verifier } from "./keys.ts";
import { statementName, stemOf } from "./sign_files.ts";
import { rulesDigest, type Predicate } from "./statement.ts";

/** Facts that the caller knows of the statement, so that an older one or another org's is no proof. */
export interface Expected {
  readonly orgUrl: string | null;
  /** ISO 8601: the scan must not have ended before. */
  readonly since: string | null;
  /** The revision of the STIG to evaluate the evidence by. */
  readonly revision: Revision;
  /** A file that has to be among the signed ones. */
  readonly subject?: string;
}

const suffix = ".intoto.json";
const maxFileBytes = 512 * 1_048_576;

/** The files of one folder. */
interface Folder {
  readonly names: readonly string[];
  /** Throws `NotProven` for what is no plain file of the folder. */
  read(name: string): Promise<Uint8Array>;
}

/** Results of the verification, and what was not examined, in lines for a person. */
type Verified = readonly string[];

/** Verifies a statement, or every one in a folder. Throws `NotProven` with the first thing that does not hold. */
export async function verifyPath(path: string, verifier: Verifier, expected: Expected): Promise<Verified> {
  const entry = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "ENOTDIR"))
      throw new UsageError([`Cannot verify ${JSON.stringify(path)}: no such file or folder`]);
    throw error;
  });
  if (entry.isDirectory()) return verifyFolder(await folderOf(path), null, { verifier, expected });
  const name = basename(path);
  const folder = await folderOf(dirname(path));
  const own = name.endsWith(suffix) ? name : statementName(stemOf(name));
  if (folder.names.includes(own)) return verifyFolder(folder, own, { verifier, expected });
  // The statement of a whole folder may name the file.
  const whole = statementName("scan");
  if (!folder.names.includes(whole))
    throw new NotProven(`there is neither ${own} nor ${whole}, which would hold the signature`);
  return verifyFolder(folder, whole, { verifier, expected: { ...expected, subject: name } });
}

async function verifyFolder(
  folder: Folder,
  only: string | null,
  { verifier, expected }: { readonly verifier: Verifier; readonly expected: Expected },
): Promise<Verified> {
  const statements = only === null ? folder.names.filter((name) => name.endsWith(suffix)) : [only];
  const lines: string[] = [];
  const subjects = new Set<string>();
  for (const name of statements) {
    if (!folder.names.includes(name)) throw new NotProven(`there is no ${name}, which would hold the signature`);
    const statement = openEnvelope(Buffer.from(await folder.read(name)).toString("utf8"), verifier);
    const { predicate } = statement;
    requireExpected(predicate, expected);
    const wanted = expected.subject;
    if (wanted !== undefined && !statement.subject.some(({ name: subject }) => subject === wanted))
      throw new NotProven(`${name} does not name ${wanted}`);
    const contents = new Map<string, Uint8Array>();
    for (const { name: subject, digest } of statement.subject) {
      if (contents.has(subject)) throw new NotProven(`${name} names ${JSON.stringify(subject)} twice`);
      const content = await folder.read(subject);
      const found = sha256(content);
      if (found !== digest.sha256)
        throw new NotProven(`${subject} is not the file that was signed: its digest is ${found}`);
      contents.set(subject, content);
      subjects.add(subject);
    }
    lines.push(
      `${name}: signed by ${verifier.keyId}; ${predicate.org_url}, ${predicate.started_at} to ${predicate.ended_at}, ${predicate.rules.id}, scanstream ${predicate.scanner.version}`,
      `${[...contents.keys()].join(", ")}: as signed`,
      ...(await verifyContents(predicate, contents, { folder, revision: expected.revision })),
    );
  }
  if (statements.length === 0) throw new NotProven(`there is no file *${suffix}, which would hold a signature`);
  const others = folder.names.filter(
    (name) => !subjects.has(name) && !statements.includes(name) && !name.endsWith(suffix),
  );
  if (only === null && others.length > 0) lines.push(`Not signed: ${others.join(", ")}`);
  return lines;
}

function requireExpected(predicate: Predicate, { orgUrl, since }: Expected): void {
  for (const org of [predicate.org_url, ...(predicate.other_org_urls ?? [])]) {
    if (orgUrl !== null && originOf(org) !== originOf(orgUrl))
      throw new NotProven(`it is about ${org}, and not about ${orgUrl}`);
  }
  if (since !== null && Date.parse(predicate.ended_at) < Date.parse(since))
    throw new NotProven(`it is of ${predicate.ended_at}, which is before ${since}`);
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

/** Histories stand on their own; everything else has evidence, or should have. */
async function verifyContents(
  predicate: Predicate,
  contents: ReadonlyMap<string, Uint8Array>,
  context: { readonly folder: Folder; readonly revision: Revision },
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [name, content] of contents) {
    const history = historyIn(content);
    if (history !== null) lines.push(verifyHistory(name, history, predicate));
  }
  return lines.length > 0 ? lines : [await verifyVerdicts(predicate, contents, context)];
}

/** The history that a file is; null: it is another file. */
function historyIn(content: Uint8Array): History | null {
  const value = parseJsonObject(Buffer.from(content).toString("utf8"));
  if (value?.["schema"] !== "scanstream.history/1") return null;
  const history = v.safeParse(historySchema, value);
  return history.success ? history.output : null;
}

/** The history is of the organizations that were signed for. Throws `NotProven`. */
function verifyHistory(name: string, history: History, predicate: Predicate): string {
  const signedFor = [predicate.org_url, ...(predicate.other_org_urls ?? [])];
  for (const { org_url: orgUrl } of history.organizations) {
    if (!signedFor.includes(orgUrl))
      throw new NotProven(`${name} is about ${orgUrl}, and the statement about ${signedFor.join(", ")}`);
  }
  return `${name}: a history of ${signedFor.join(", ")}`;
}

/** The evidence gives the findings of the report again. */
async function verifyVerdicts(
  { evidence, judging, rules }: Predicate,
  contents: ReadonlyMap<string, Uint8Array>,
  { folder, revision }: { readonly folder: Folder; readonly revision: Revision },
): Promise<string> {
  const notAgain = "the verdicts were not evaluated again";
  const reports = [...contents].flatMap(([name, content]) => {
    const report = reportIn(content);
    return report === null ? [] : [{ name, report }];
  });
  const [found] = reports;
  if (evidence === null || found === undefined)
    return `${notAgain}: ${found === undefined ? "there is no report as JSON" : "the statement names no evidence"}`;
  let document: ArtifactsDocument | null = null;
  for (const name of folder.names) {
    const content = contents.get(name) ?? (await folder.read(name).catch(() => null));
    if (content !== null && sha256(content) === evidence.sha256)
      document = parseArtifacts(Buffer.from(content).toString("utf8"));
  }
  if (document === null) return `${notAgain}: the evidence is not there`;
  const { name, report } = found;
  if (report.benchmark !== undefined && report.benchmark !== rules.id)
    throw new NotProven(`${name} was judged by ${report.benchmark}, and the statement says ${rules.id}`);
  if (revision.benchmark.id !== rules.id) return `${notAgain}: they are by ${rules.id} (--benchmark FILE)`;
  if (rulesDigest(revision) !== rules.sha256)
    return `${notAgain}: the rules of ${rules.id} are not here as they were when it was signed`;
  const { engine, org_url: orgUrl } = document.scan;
  if (report.scan.org_url !== orgUrl)
    throw new NotProven(`${name} is about ${report.scan.org_url}, and its evidence about ${orgUrl}`);
  const context = toContext({
    engine,
    orgUrl,
    evaluatedAt: document.evaluated_at,
    orgPolicy: judging.org_policy as OrgPolicy | null,
  });
  for (const given of report.checks) {
    const check = revision.checks.find((one) => one.name === given.check);
    if (check === undefined || given.reason === "interrupted") continue;
    const again = evaluateCheck(check, document.artifacts, context);
    if (verdictsOf(again) !== verdictsOf(given))
      throw new NotProven(`the evidence gives other findings of ${given.vuln_id} than ${name} says`);
  }
  return `${name}: the evidence gives the same findings`;
}

function verdictsOf({ status, reason, findings }: Report["checks"][number]): string {
  const each = findings.map((one) => [one.fingerprint, one.status, one.reason, one.actual, one.automated]);
  return JSON.stringify([status, reason, each]);
}

function reportIn(content: Uint8Array): Report | null {
  const value = parseJsonObject(Buffer.from(content).toString("utf8"));
  if (value?.["schema"] !== "scanstream.report/1") return null;
  const report = v.safeParse(reportSchema, value);
  return report.success ? report.output : null;
}

/** A subject is a plain file of the same folder: a path or a link could lead to another one tomorrow. */
async function folderOf(path: string): Promise<Folder> {
  const entries = await readdir(path, { withFileTypes: true });
  return {
    names: entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort(),
    async read(name) {
      requirePlain(name);
      const file = join(path, name);
      const entry = await lstat(file).catch(() => null);
      if (entry === null) throw new NotProven(`${name} was signed and is not there`);
      if (!entry.isFile()) throw new NotProven(`${name} is not a regular file, and may lead to another one`);
      if (entry.size > maxFileBytes) throw new NotProven(`${name} is larger than 512 MiB`);
      return readFile(file);
    },
  };
}

function requirePlain(name: string): void {
  if (name === "" || name === "." || name === ".." || /[/\\\0]/.test(name)) {
    throw new NotProven(`the subject ${JSON.stringify(name.slice(0, 200))} is no plain file name`);
  }
}
