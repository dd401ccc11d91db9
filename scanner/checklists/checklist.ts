import { basename } from "node:path";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { builtIn, revisionName, type Benchmark, type Revision } from "../catalog/catalog.ts";
import type { CheckResult } from "../../shared/report.ts";
import { listSome } from "../checks/parsing/names.ts";
import { toLine } from "../../shared/text.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { isSameText } from "../revisions/revision.ts";
import { noAnswer, personsPart, type Answer, checklistStatuses } from "./answers.ts";
import { parseCkl } from "./ckl.ts";
import {
  benchmarkFields,
  cklbAnswers,
  disaFields,
  fullNameOf,
  parseCklb,
  textOf,
  withAnswer,
  type CklbChecklist,
  type CklbStig,
} from "./cklb.ts";

/** Sixty servers' worth of STIGs. */
const maxChecklistBytes = 64 * 1_048_576;

/** A checklist that people worked in, read and found to be one of this benchmark; one of another revision was carried over. */
export interface Checklist {
  /** Without its folder. */
  readonly name: string;
  readonly document: CklbChecklist;
  /** The STIG of the benchmark among those of the document. */
  readonly stig: CklbStig;
  /** Answers at the rules of the benchmark, by V-id. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Fate of the answers of another revision; null: it is of the revision that is judged by. */
  readonly carried: Carried | null;
}

/** Reads the file of `--checklist`; null: none was given. Throws `UsageError` naming what is wrong with it. */
export async function readChecklist(source: NamedFile | null, target: Revision): Promise<Checklist | null> {
  if (source === null) return null;
  return readOptionFile({ ...source, maxBytes: maxChecklistBytes }, (content) =>
    parseChecklist(content, source.file, target),
  );
}

/** The asset of a checklist, where that is not this org: its host and port, else its full name. Null: it is, or none is named. */
export function otherAssetOf({ document: { target_data: about } }: Checklist, orgUrl: string): string | null {
  const site = textOf(about, "web_db_site");
  // People name sites, too: only a host with a port is scanstream's.
  const asset = (/^[^\s/]+:\d{1,5}$/.test(site) ? site : fullNameOf(about.fqdn ?? "")).toLowerCase();
  const { host = asset, hostname = asset } = URL.parse(orgUrl) ?? {};
  // A full name says nothing of the port.
  return ["", host, hostname.replace(/^\[(.*)\]$/, "$1")].includes(asset) ? null : asset;
}

/** Reads CKLB or CKL, for the revision that is judged by; throws `ContentError` naming what is wrong with it. */
export function parseChecklist(content: string, file: string, target: Revision = builtIn): Checklist {
  const document = parseDocument(content);
  const stig = findStig(document.stigs, target.benchmark);
  const read = { name: basename(file), document, stig, answers: cklbAnswers(stig), carried: null };
  const from = revisionOf(stig);
  return from === revisionName(target.benchmark) ? read : carryAnswers(read, { from, target });
}

function parseDocument(content: string): CklbChecklist {
  const trimmed = content.trimStart();
  if (trimmed.startsWith("<")) return parseCkl(content);
  if (trimmed.startsWith("{")) return parseCklb(content);
  throw new ContentError(["it is not a checklist: expected CKLB (JSON) or CKL (XML)"]);
}

/** The STIG of the benchmark, of the revision that is judged by where the checklist has several. */
function findStig(stigs: readonly CklbStig[], benchmark: Benchmark): CklbStig {
  const found = stigs.filter((stig) => benchmarkIdOf(stig) === benchmark.benchmark_id);
  const own = found.filter((stig) => revisionOf(stig) === revisionName(benchmark));
  const fitting = own.length > 0 ? own : found;
  const [chosen, second] = fitting;
  if (chosen !== undefined && second === undefined) return chosen;
  if (chosen !== undefined) {
    const which = [...new Set(fitting.map(revisionOf))].join(" and ");
    throw new ContentError([`it has ${benchmark.benchmark_id} ${which} ${fitting.length} times: expected it once`]);
  }
  const names = stigs.map((stig) => JSON.stringify(`${benchmarkIdOf(stig)} ${revisionOf(stig)}`.slice(0, 80)));
  throw new ContentError([`it is of ${listSome(names)}: expected a checklist of ${benchmark.benchmark_id}`]);
}

function benchmarkIdOf({ stig_id: id }: CklbStig): string {
  return id.replace("xccdf_mil.disa.stig_benchmark_", "");
}

/** Answers of a checklist that does not say its release are carried as those of another revision: by the texts of its rules. */
function revisionOf({ version, release_info: release }: CklbStig): string {
  if (!release || !/Release:\s*\d/.test(release)) return "an unknown revision";
  return revisionName({ version: String(version ?? ""), release_info: release });
}

/** Fate of the answers of a checklist of another revision. */
interface Carried {
  readonly from: string;
  readonly to: string;
  /** The V-ids of rules that a person had answered and whose text is the same. */
  readonly kept: readonly string[];
  /** Rules whose text changed: a person has to review the answer. */
  readonly review: readonly string[];
  readonly added: readonly string[];
  /** Answers to rules that are gone, as `V-273186 (answered Open)`. */
  readonly gone: readonly string[];
}

/** The checklist with the rules of another revision, and each answer at the rule that it was given to. */
function carryAnswers(
  read: Checklist,
  { from, target }: { readonly from: string; readonly target: Revision },
): Checklist {
  const to = revisionName(target.benchmark);
  const kept: string[] = [];
  const review: string[] = [];
  const gone: string[] = [];
  const rules = read.stig.rules.flatMap((rule) => {
    const vulnId = textOf(rule, "group_id");
    const wanted = target.checks.find((check) => check.rule.vuln_id === vulnId)?.rule;
    const answer = read.answers.get(vulnId) ?? noAnswer;
    const { answered, isAnswered } = personsPart(answer);
    if (wanted === undefined) {
      const { label } = checklistStatuses[answered ?? "not_reviewed"];
      if (isAnswered) gone.push(`${vulnId} (answered ${label})`);
      return [];
    }
    const isSame = isSameText(
      { check_text: textOf(rule, "check_content"), fix_text: textOf(rule, "fix_text") },
      wanted,
    );
    if (isAnswered) (isSame ? kept : review).push(vulnId);
    const moved = isSame ? answer : isAnswered ? forReview(answer, from) : noAnswer;
    return [withAnswer({ ...rule, ...disaFields(wanted) }, moved)];
  });
  const old = new Set(read.stig.rules.map((rule) => textOf(rule, "group_id")));
  const added = target.checks.map(({ rule }) => rule.vuln_id).filter((vulnId) => !old.has(vulnId));
  const stig = { ...read.stig, ...benchmarkFields(target.benchmark), size: rules.length, rules };
  const stigs = read.document.stigs.map((each) => (each === read.stig ? stig : each));
  return {
    ...read,
    document: { ...read.document, stigs },
    stig,
    answers: cklbAnswers(stig),
    carried: { from, to, kept, review, added, gone },
  };
}

/** Without what an earlier run of the scanner wrote, which was about the other text. */
function forReview(given: Answer, from: string): Answer {
  const { answered, text, comments } = personsPart(given);
  const words = comments.replace(/^carried from [^\n]*, review(?:\n|$)/, "");
  const mark = `carried from ${from}, review`;
  return { status: answered ?? "not_reviewed", details: text, comments: words === "" ? mark : `${mark}\n${words}` };
}

/** Fate of the answers, in lines for a person. */
export function carriedLines(name: string, { from, to, kept, review, added, gone }: Carried): readonly string[] {
  const listed = (what: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${what}: ${items.join(", ")}`];
  return [
    `${name} is a checklist of ${from}. Answers carried to ${to}: ${kept.length + review.length}`,
    ...listed(`To review, as ${to} words these rules in a new way`, review),
    ...listed(`New in ${to}`, added),
    ...listed(`Not carried, as ${to} has no such rule`, gone),
  ];
}

const maxReasonLength = 400;

/** Answers of people; null: no checklist was given. */
export type Answers = Pick<Checklist, "name" | "answers" | "carried"> | null;

/**
 * The results with what a person answered in the checklist: it attests the rules that the scan and the attestations leave open. A rule
 * whose answer was carried says from which revision.
 */
export function withChecklistAnswers(results: readonly CheckResult[], checklist: Answers): readonly CheckResult[] {
  if (checklist === null) return results;
  const { name, answers, carried } = checklist;
  return results.map((result) => {
    const { vuln_id: id } = result;
    const review = carried?.review.includes(id) === true;
    const isCarried = carried !== null && (review || carried.kept.includes(id));
    const marked = isCarried ? { ...result, carried: { from: carried.from, review } } : result;
    const isAttested = result.attestation !== null && result.attestation.source !== "checklist";
    const { answered, text, comments } = personsPart(answers.get(id) ?? noAnswer);
    const status = answered && checklistStatuses[answered].attests;
    if (status === null || isAttested || result.status !== "MANUAL") return marked;
    const words = [text, comments].map((part) => toLine(part, maxReasonLength).trim()).find((part) => part !== "");
    const reason = words ?? "no words were written with the answer";
    return { ...marked, attestation: { status, reason, by: name, expires: null, source: "checklist" } };
  });
}
