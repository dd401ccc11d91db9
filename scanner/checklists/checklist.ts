import { basename } from "node:path";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { explainJsonError } from "../evidence/json_text.ts";
import { builtIn, revisionName, type Revision } from "../catalog/catalog.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Answer } from "./answers.ts";
import { carryAnswers, type Carried } from "./carry_answers.ts";
import { attributeOf, cklAnswers, parseCkl, toCklb, type CklChecklist, type CklStig } from "./ckl_document.ts";
import { cklbAnswers, fullNameOf, parseCklb, textOf, type CklbChecklist, type CklbStig } from "./cklb_document.ts";
import { childText } from "../xml_elements.ts";

/** Sixty servers' worth of STIGs. */
const maxChecklistBytes = 64 * 1_048_576;

/** A checklist that people worked in, read and found to be one of this benchmark; one of another revision was carried over. */
export type Checklist = ChecklistCommon &
  (
    | { readonly kind: "cklb"; readonly document: CklbChecklist; readonly stig: CklbStig }
    | { readonly kind: "ckl"; readonly document: CklChecklist; readonly stig: CklStig }
  );

interface ChecklistCommon {
  /** Without its folder. */
  readonly name: string;
  /** Answers at the rules of the benchmark, by V-id. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** The asset: host and port, else its full name; empty where the checklist has neither. */
  readonly asset: string;
  /** Fate of the answers of another revision; null: it is of the revision that is judged by. */
  readonly carried: Carried | null;
}

/** The revision that is judged by, and all that are known. */
interface Revisions {
  readonly target: Revision;
  readonly known: readonly Revision[];
}

/** Reads the file of `--checklist`; null: none was given. Throws `UsageError` naming what is wrong with it. */
export async function readChecklist(source: NamedFile | null, target: Revision): Promise<Checklist | null> {
  if (source === null) return null;
  const known = [builtIn, target];
  return readOptionFile({ ...source, maxBytes: maxChecklistBytes }, (content) =>
    parseChecklist(content, source, { target, known }),
  );
}

/** Reads CKLB or CKL; throws `UsageError` naming what is wrong with the file. */
export function parseChecklist(
  content: string,
  { option, file }: NamedFile,
  revisions: Revisions = { target: builtIn, known: [builtIn] },
): Checklist {
  const fail = (problem: string) => new UsageError([`Cannot use ${option} ${JSON.stringify(file)}: ${problem}`]);
  const trimmed = content.trimStart();
  try {
    const name = basename(file);
    if (trimmed.startsWith("<")) return ofCkl(content, name, revisions);
    if (trimmed.startsWith("{")) return ofCklb(content, name, revisions);
  } catch (error) {
    if (error instanceof SyntaxError && trimmed.startsWith("{")) throw fail(explainJsonError(error, content));
    if (error instanceof Error && expectedErrors.has(error.name)) throw fail(error.message);
    throw error;
  }
  throw fail("it is not a checklist: expected CKLB (JSON) or CKL (XML)");
}

const expectedErrors: ReadonlySet<string> = new Set(["SyntaxError", "TypeError", "RangeError"]);

function ofCklb(content: string, name: string, revisions: Revisions): Checklist {
  const document = parseCklb(content);
  const facts = (each: CklbStig): Facts => ({
    id: each.stig_id,
    version: String(each.version ?? ""),
    release: each.release_info ?? "",
    ruleIds: each.rules.map((rule) => textOf(rule, "rule_id_src") || `${textOf(rule, "rule_id")}_rule`),
  });
  const { stig, revision } = findStig(document.stigs, facts, revisions);
  return ofCklbDocument({ document, stig, revision }, name, revisions);
}

function ofCklbDocument(
  opened: { readonly document: CklbChecklist; readonly stig: CklbStig; readonly revision: string },
  name: string,
  { target }: Revisions,
): Checklist {
  const { target_data: about } = opened.document;
  const asset = assetOf(textOf(about, "web_db_site"), about.fqdn ?? "");
  const answers = cklbAnswers(opened.stig);
  if (opened.revision === revisionName(target.benchmark)) {
    const { document, stig } = opened;
    return { kind: "cklb", name, document, stig, answers, asset, carried: null };
  }
  const { document, stig, carried } = carryAnswers({ ...opened, answers }, target);
  return { kind: "cklb", name, document, stig, answers: cklbAnswers(stig), asset, carried };
}

function ofCkl(content: string, name: string, revisions: Revisions): Checklist {
  const document = parseCkl(content);
  const facts = ({ facts: given, rules }: CklStig): Facts => ({
    id: given.get("stigid") ?? "",
    version: given.get("version") ?? "",
    release: given.get("releaseinfo") ?? "",
    ruleIds: rules.map((rule) => attributeOf(rule, "Rule_ID").trim()),
  });
  const { stig, revision } = findStig(document.stigs, facts, revisions);
  if (revision === revisionName(revisions.target.benchmark)) {
    const asset = assetOf(childText(document.asset, "WEB_DB_SITE"), childText(document.asset, "HOST_FQDN"));
    return { kind: "ckl", name, document, stig, answers: cklAnswers(stig), asset, carried: null };
  }
  // An invalid status is refused in the words of the format that the person has.
  cklAnswers(stig);
  const converted = toCklb(document);
  const moved = converted.stigs[document.stigs.indexOf(stig)];
  if (moved === undefined) throw new Error(`The STIG of ${name} is missing from its list`);
  return ofCklbDocument({ document: converted, stig: moved, revision }, name, revisions);
}

/** People name sites, too: only a host with a port is scanstream's. */
function assetOf(site: string, fqdn: string): string {
  return /^[^\s/]+:\d{1,5}$/.test(site) ? site : fullNameOf(fqdn);
}

/** How a checklist says which STIG it is of. */
interface Facts {
  readonly id: string;
  readonly version: string;
  readonly release: string;
  readonly ruleIds: readonly string[];
}

/** The STIG of the benchmark, of the revision that is judged by where the checklist has several. */
function findStig<Stig>(
  stigs: readonly Stig[],
  factsOf: (stig: Stig) => Facts,
  { target, known }: Revisions,
): { readonly stig: Stig; readonly revision: string } {
  const { benchmark } = target;
  const wanted = revisionName(benchmark);
  const found = stigs
    .filter((stig) => benchmarkIdOf(factsOf(stig)) === benchmark.benchmark_id)
    .map((stig) => ({ stig, revision: revisionIn(factsOf(stig), known) }));
  const own = found.filter(({ revision }) => revision === wanted);
  const [chosen, second] = own.length > 0 ? own : found;
  if (chosen !== undefined && second === undefined) return chosen;
  const name = (facts: Facts) => JSON.stringify(`${benchmarkIdOf(facts)} ${revisionIn(facts, known)}`.slice(0, 80));
  if (chosen !== undefined) {
    const which = [...new Set((own.length > 0 ? own : found).map(({ revision }) => revision))].join(" and ");
    throw new TypeError(`it has ${benchmark.benchmark_id} ${which} ${found.length} times: expected it once`);
  }
  const names = stigs.map((stig) => name(factsOf(stig)));
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  throw new TypeError(
    `it is of ${names.slice(0, maxNamed).join(", ")}${more}: expected a checklist of ${benchmark.benchmark_id}`,
  );
}

const maxNamed = 5;

function benchmarkIdOf({ id }: Facts): string {
  return id.replace("xccdf_mil.disa.stig_benchmark_", "");
}

/** Revision of a checklist. Without its release, its rules are those of exactly one revision. */
function revisionIn({ version, release, ruleIds }: Facts, known: readonly Revision[]): string {
  if (/Release:\s*\d/.test(release)) return revisionName({ version, release_info: release });
  const ids = ruleIds.toSorted().join();
  const same = known.find(
    ({ checks }) =>
      checks
        .map(({ rule }) => rule.rule_id)
        .toSorted()
        .join() === ids,
  );
  return same === undefined ? "an unknown revision" : revisionName(same.benchmark);
}
