import { basename } from "node:path";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { builtIn, revisionName, type Benchmark, type Revision } from "../catalog/catalog.ts";
import type { Attestation, CheckResult } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { personsPart, type Answer } from "./answers.ts";
import { carryAnswers, type Carried } from "./carry_answers.ts";
import { parseCkl } from "./ckl.ts";
import { cklbAnswers, fullNameOf, parseCklb, textOf, type CklbChecklist, type CklbStig } from "./cklb.ts";
import type { ChecklistStatus } from "./status.ts";

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
  /** The asset: host and port, else its full name; empty where the checklist has neither. */
  readonly asset: string;
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

/** Reads CKLB or CKL, for the revision that is judged by; throws `ContentError` naming what is wrong with it. */
export function parseChecklist(content: string, file: string, target: Revision = builtIn): Checklist {
  const trimmed = content.trimStart();
  if (trimmed.startsWith("<")) return open(parseCkl(content), basename(file), target);
  if (trimmed.startsWith("{")) return open(parseCklb(content), basename(file), target);
  throw new ContentError(["it is not a checklist: expected CKLB (JSON) or CKL (XML)"]);
}

function open(document: CklbChecklist, name: string, target: Revision): Checklist {
  const { target_data: about } = document;
  const asset = assetOf(textOf(about, "web_db_site"), about.fqdn ?? "");
  const stig = findStig(document.stigs, target.benchmark);
  const [answers, revision] = [cklbAnswers(stig), revisionOf(stig)];
  if (revision === revisionName(target.benchmark)) return { name, document, stig, answers, asset, carried: null };
  const moved = carryAnswers({ document, stig, revision, answers }, target);
  return { name, ...moved, answers: cklbAnswers(moved.stig), asset };
}

/** People name sites, too: only a host with a port is scanstream's. */
function assetOf(site: string, fqdn: string): string {
  return /^[^\s/]+:\d{1,5}$/.test(site) ? site : fullNameOf(fqdn);
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
    throw new ContentError([`it has ${benchmark.benchmark_id} ${which} ${found.length} times: expected it once`]);
  }
  const names = stigs.map((stig) => JSON.stringify(`${benchmarkIdOf(stig)} ${revisionOf(stig)}`.slice(0, 80)));
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  throw new ContentError([
    `it is of ${names.slice(0, maxNamed).join(", ")}${more}: expected a checklist of ${benchmark.benchmark_id}`,
  ]);
}

const maxNamed = 5;

function benchmarkIdOf({ stig_id: id }: CklbStig): string {
  return id.replace("xccdf_mil.disa.stig_benchmark_", "");
}

/** Answers of a checklist that does not say its release are carried as those of another revision: by the texts of its rules. */
function revisionOf({ version, release_info: release }: CklbStig): string {
  if (!release || !/Release:\s*\d/.test(release)) return "an unknown revision";
  return revisionName({ version: String(version ?? ""), release_info: release });
}

const attested: Readonly<Record<Exclude<ChecklistStatus, "not_reviewed">, Attestation["status"]>> = {
  open: "FAIL",
  not_a_finding: "PASS",
  not_applicable: "NOT_APPLICABLE",
};
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
    const answer = answers.get(id);
    const isAttested = result.attestation !== null && result.attestation.source !== "checklist";
    const isOpen = result.status === "MANUAL" && !isAttested;
    if (answer === undefined || !isOpen) return marked;
    const { status, text, comments } = personsPart(answer);
    if (status === "not_reviewed") return marked;
    const words = [text, comments].map((part) => toLine(part, maxReasonLength).trim()).find((part) => part !== "");
    const reason = words ?? "no words were written with the answer";
    const attestation = { status: attested[status], reason, by: name, expires: null, source: "checklist" } as const;
    return { ...marked, attestation };
  });
}
