import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { usingFile } from "../../command_line/files.ts";
import { hasCode } from "../../shared/error_code.ts";
import { isJsonObject, parseJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Report } from "../../shared/report.ts";
import { stateOf, summarizeChecks } from "../../shared/rule_result.ts";
import { historySchema } from "../../shared/schemas/history.ts";
import { reportSchema } from "../../shared/schemas/report.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Revision } from "../catalog/catalog.ts";
import { noAnswer, type Answer, statusOf } from "../checklists/answers.ts";
import { parseChecklist } from "../checklists/checklist.ts";
import { sha256 } from "../digest.ts";
import { evaluateCheck, unevaluatedResult } from "../evaluate.ts";
import { parseArtifacts } from "../evidence/artifacts_document.ts";
import { answersOf } from "../reports/checklists.ts";
import { interrupted, toContext } from "../run_scan.ts";
import type { Verifier } from "./keys.ts";
import { NotProven, openEnvelope, rulesDigest, statementName, stemOf, type Predicate } from "./statement.ts";

/** Facts that the caller knows of the statement, so that an older one or another org's is not proof. */
export interface Expected {
  readonly orgUrl: string | null;
  /** ISO 8601: the scan must not have ended before. */
  readonly since: string | null;
  /** The revision of the STIG to evaluate the evidence by. */
  readonly revision: Revision;
}

const suffix = ".intoto.json";
const maxFileBytes = 512 * 1_048_576;

/**
 * Verifies the statement of a file, or every one in a folder. Resolves with what holds and what was not examined, in lines for a
 * person. Throws `NotProven` with the first thing that does not hold.
 */
export async function verifyPath(path: string, verifier: Verifier, expected: Expected): Promise<readonly string[]> {
  const { folder, names, statements, subject } = await openFolder(path);
  if (statements.length === 0) throw new NotProven(`there is no file *${suffix}, which would hold a signature`);
  const lines: string[] = [];
  const signed = new Set<string>();
  for (const name of statements) {
    const statement = openEnvelope((await readPlain(folder, name)).toString("utf8"), verifier);
    const { predicate } = statement;
    requireExpected(predicate, expected);
    const digests = new Map(statement.subject.map((one) => [one.name, one.digest.sha256]));
    if (digests.size < statement.subject.length) throw new NotProven(`${name} names a file twice`);
    if (subject !== null && !digests.has(subject)) throw new NotProven(`${name} does not name ${subject}`);
    const documents: SignedDocument[] = [];
    for (const [file, digest] of digests) {
      const content = await readPlain(folder, file);
      const found = sha256(content);
      if (found !== digest) throw new NotProven(`${file} is not the file that was signed: its digest is ${found}`);
      const text = content.toString("utf8");
      documents.push({ name: file, text, value: parseJsonObject(text) });
      signed.add(file);
    }
    const { org_url: org, started_at: from, ended_at: to, rules, scanner } = predicate;
    requireSameScan(predicate, documents);
    const histories = verifyHistories(predicate, documents);
    const context = { folder, names, revision: expected.revision };
    lines.push(
      `${name}: signed by ${verifier.keyId}; ${org}, ${from} to ${to}${rules === undefined ? "" : `, ${rules.id}`}, scanstream ${scanner.version}`,
      `${[...digests.keys()].join(", ")}: as signed`,
      // Everything else has evidence, or should have.
      ...(histories.length > 0 ? histories : await verifyVerdicts(predicate, documents, context)),
    );
  }
  const others = names.filter((name) => !signed.has(name) && !name.endsWith(suffix));
  return folder === path && others.length > 0 ? [...lines, `Not signed: ${others.join(", ")}`] : lines;
}

type Folder = Pick<Awaited<ReturnType<typeof openFolder>>, "folder" | "names">;

/** The folder itself or that of a file, all names in it, the statements to verify, and a file that each of them has to name; null: any. */
async function openFolder(path: string) {
  const entry = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "ENOTDIR"))
      throw new UsageError([`Cannot verify ${JSON.stringify(path)}: no such file or folder`]);
    throw error;
  });
  const folder = entry.isDirectory() ? path : dirname(path);
  const names = (await readdir(folder)).sort();
  if (folder === path)
    return { folder, names, statements: names.filter((name) => name.endsWith(suffix)), subject: null };
  const name = basename(path);
  // The statement of a whole folder may name the file.
  const [own, whole] = [name.endsWith(suffix) ? name : statementName(stemOf(name)), statementName("scan")];
  const statement = names.includes(own) ? own : whole;
  if (!names.includes(statement))
    throw new NotProven(`there is no ${[...new Set([own, whole])].join(" or ")}, which would hold the signature`);
  return { folder, names, statements: [statement], subject: statement === own ? null : name };
}

/** A subject is a plain file of the same folder: a path or a link could lead to another one tomorrow. */
async function readPlain(folder: string, name: string): Promise<Buffer> {
  if (name === "" || name === "." || name === ".." || /[/\\\0]/.test(name))
    throw new NotProven(`the subject ${JSON.stringify(name.slice(0, 200))} is no plain file name`);
  const file = join(folder, name);
  const entry = await lstat(file).catch(() => null);
  if (entry === null) throw new NotProven(`${name} was signed and is not there`);
  if (!entry.isFile()) throw new NotProven(`${name} is not a regular file, and may lead to another one`);
  if (entry.size > maxFileBytes) throw new NotProven(`${name} is larger than 512 MiB`);
  return readFile(file);
}

function orgsOf({ org_url: first, other_org_urls: others = [] }: Predicate): readonly string[] {
  return [first, ...others];
}

function requireExpected(predicate: Predicate, { orgUrl, since }: Expected): void {
  const other = orgUrl === null ? undefined : orgsOf(predicate).find((org) => originOf(org) !== originOf(orgUrl));
  if (other !== undefined) throw new NotProven(`it is about ${other}, and not about ${orgUrl}`);
  if (since !== null && !(Date.parse(predicate.ended_at) >= Date.parse(since)))
    throw new NotProven(`it is of ${predicate.ended_at}, which is before ${since}`);
}

/** A signed file as JSON; null: it is not a JSON object. */
type SignedDocument = { readonly name: string; readonly text: string; readonly value: JsonObject | null };

/** A report or evidence of another scan would pass for a newer one, or for another org's. */
function requireSameScan(stated: Predicate, documents: readonly SignedDocument[]): void {
  for (const { name, value } of documents) {
    const scan = value?.["scan"];
    if (!isJsonObject(scan)) continue;
    const isSameTime = (fact: "started_at" | "ended_at") => Date.parse(String(scan[fact])) === Date.parse(stated[fact]);
    if (scan["org_url"] !== stated.org_url || !isSameTime("started_at") || !isSameTime("ended_at"))
      throw new NotProven(`${name} is about another org or time than the statement`);
  }
}

/** A line for each history: it is of the organizations that were signed for. */
function verifyHistories(predicate: Predicate, documents: readonly SignedDocument[]): readonly string[] {
  const signedFor = orgsOf(predicate);
  return filesOf(documents, "scanstream.history/1", historySchema).map(({ name, value }) => {
    const other = value.organizations.find(({ org_url: orgUrl }) => !signedFor.includes(orgUrl));
    if (other !== undefined)
      throw new NotProven(`${name} is about ${other.org_url}, and the statement about ${signedFor.join(", ")}`);
    return `${name}: a history of ${signedFor.join(", ")}`;
  });
}

/** Files of a schema. One that names it and has another form would be read by others, and evaluated by nobody. */
function filesOf<Schema extends v.GenericSchema>(documents: readonly SignedDocument[], id: string, schema: Schema) {
  return documents.flatMap(({ name, value }) => {
    if (value?.["schema"] !== id) return [];
    const parsed = v.safeParse(schema, value);
    if (!parsed.success) throw new NotProven(`${name} has another form than ${id}`);
    return [{ name, value: parsed.output }];
  });
}

/** A line for each report: the evidence gives its findings again, or why that was not examined. */
async function verifyVerdicts(
  { evidence, judging, rules, scanner, summary }: Predicate,
  documents: readonly SignedDocument[],
  { folder, names, revision }: Folder & Pick<Expected, "revision">,
): Promise<readonly string[]> {
  const notAgain = "the verdicts were not evaluated again";
  const reports = filesOf(documents, "scanstream.report/1", reportSchema);
  if (reports.length === 0) return [`${notAgain}: there is no report as JSON`];
  if (evidence === null || rules === undefined) return [`${notAgain}: the statement names no evidence, or no rules`];
  const text = await findFile(evidence.sha256, { folder, names });
  if (text === null) return [`${notAgain}: the evidence is not there`];
  for (const { name, value } of reports)
    if (value.benchmark !== undefined && value.benchmark !== rules.id)
      throw new NotProven(`${name} was judged by ${value.benchmark}, and the statement says ${rules.id}`);
  if (revision.benchmark.id !== rules.id) return [`${notAgain}: they are by ${rules.id} (--benchmark FILE)`];
  if (rulesDigest(revision) !== rules.sha256)
    return [`${notAgain}: the rules of ${rules.id} are not here as they were when it was signed`];
  const document = await usingFile({ option: "the evidence in", file: folder }, () => parseArtifacts(text));
  const { scan, artifacts, evaluated_at: evaluatedAt } = document;
  const { engine, org_url: orgUrl } = scan;
  const context = toContext({ engine, orgUrl, evaluatedAt, orgPolicy: judging.org_policy });
  const checklists = await readChecklists(documents, revision, folder);
  return reports.flatMap(({ name, value: report }) => {
    if (!isDeepStrictEqual({ ...report.scan, ...scan }, report.scan))
      throw new NotProven(`the scan that ${name} describes is not that of its evidence`);
    for (const result of report.checks) {
      const check = revision.checks.find((one) => one.name === result.check);
      if (check === undefined)
        throw new NotProven(`${name} has results of ${result.check}, which is no rule of ${rules.id}`);
      const again =
        result.reason === "interrupted"
          ? unevaluatedResult(check, interrupted, context)
          : evaluateCheck(check, artifacts, context);
      if (verdictsOf(again) !== verdictsOf(result))
        throw new NotProven(`the evidence gives other findings of ${result.vuln_id} than ${name} says`);
    }
    const evaluated = report.checks.filter(({ reason }) => reason !== "interrupted").map(({ check }) => check);
    if (new Set(evaluated).size < evaluated.length) throw new NotProven(`${name} has two results of one rule`);
    const counts = summarizeChecks(report.checks);
    if (!isDeepStrictEqual(report.summary, counts))
      throw new NotProven(`the summary of ${name} is not that of its results`);
    if (!isDeepStrictEqual(summary, counts)) throw new NotProven(`the statement has other counts than ${name}`);
    const others = revision.checks.filter((check) => !evaluated.includes(check.name)).map(({ rule }) => rule.vuln_id);
    const rest = others.length === 0 ? "" : `; it has no result of ${others.join(", ")}`;
    for (const checklist of checklists) {
      const { answers } = answersOf(report, { checklist, revision, toolVersion: scanner.version });
      for (const check of report.checks) {
        const { vuln_id: id } = check;
        const given = checklist.answers.get(id);
        if (given?.status !== statusOf(stateOf(check)) || wordsOf(given) !== wordsOf(answers.get(id)))
          throw new NotProven(`${checklist.name} has another answer to ${id} than ${name} gives`);
      }
    }
    return [
      `${name}: the evidence gives the same findings${rest}`,
      ...checklists.map((checklist) => `${checklist.name}: the same answers as ${name}`),
    ];
  });
}

function readChecklists(documents: readonly SignedDocument[], revision: Revision, folder: string) {
  const written = documents.filter(({ name }) => /\.cklb?$/.test(name));
  return usingFile({ option: "a checklist in", file: folder }, () =>
    written.map(({ name, text }) => parseChecklist(text, name, revision)),
  );
}

/** The scan's part of an answer is written anew each time, after the words of a person, which stay. */
function wordsOf({ details, comments }: Answer = noAnswer): string {
  return `${details}\n${comments}`.replaceAll(/\s+/g, " ");
}

/** Finds the text of a file in the folder by its digest, be it signed or not; null: not found. */
async function findFile(digest: string, { folder, names }: Folder): Promise<string | null> {
  for (const name of names) {
    const content = await readPlain(folder, name).catch(() => null);
    if (content !== null && sha256(content) === digest) return content.toString("utf8");
  }
  return null;
}

/** All that a reader takes for the scan's own words. */
function verdictsOf({ vuln_id: rule, severity, title, status, reason, findings }: Report["checks"][number]): string {
  const each = findings.map(({ resource: { type, id, name }, ...one }) => [
    [type, id, name, one.fingerprint, one.advisory],
    [one.status, one.reason, one.automated, one.expected, one.actual, one.detail, one.rests_on],
  ]);
  return JSON.stringify([rule, severity, title, status, reason, each]);
}
