import { basename } from "node:path";
import { readOptionFile } from "../../command_line/files.ts";
import { benchmark } from "../catalog/catalog.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Answer } from "./answers.ts";
import { cklAnswers, parseCkl, type CklChecklist, type CklStig } from "./ckl_document.ts";
import { cklbAnswers, parseCklb, type CklbChecklist, type CklbStig } from "./cklb_document.ts";
import { childText } from "./xml_elements.ts";

/** Sixty servers' worth of STIGs. */
const maxChecklistBytes = 64 * 1_048_576;

/** A checklist that people worked in, read and found to be one of this benchmark. */
export type Checklist = ChecklistCommon &
  (
    | { readonly kind: "cklb"; readonly document: CklbChecklist; readonly stig: CklbStig }
    | { readonly kind: "ckl"; readonly document: CklChecklist; readonly stig: CklStig }
  );

interface ChecklistCommon {
  /** Without its folder. */
  readonly name: string;
  /** What stands at the rules of the benchmark, by V-id. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** The asset's full name; empty where the checklist has none. */
  readonly fqdn: string;
}

/** Reads the file of `--checklist`; null: none was given. Throws `UsageError` naming what is wrong with it. */
export async function readChecklist(file: string | null): Promise<Checklist | null> {
  if (file === null) return null;
  return readOptionFile({ option: "--checklist", file, maxBytes: maxChecklistBytes }, parseChecklist);
}

/** Reads CKLB or CKL; throws `UsageError` naming what is wrong with the file. */
export function parseChecklist(content: string, file: string): Checklist {
  const fail = (problem: string) => new UsageError([`Cannot use --checklist ${JSON.stringify(file)}: ${problem}`]);
  try {
    const name = basename(file);
    const trimmed = content.trimStart();
    if (trimmed.startsWith("<")) return ofCkl(content, name);
    if (trimmed.startsWith("{")) return ofCklb(content, name);
  } catch (error) {
    if (error instanceof Error && expectedErrors.has(error.name)) throw fail(error.message);
    throw error;
  }
  throw fail("it is no checklist: expected CKLB (JSON) or CKL (XML)");
}

const expectedErrors: ReadonlySet<string> = new Set(["SyntaxError", "TypeError", "RangeError"]);

function ofCklb(content: string, name: string): Checklist {
  const document = parseCklb(content);
  const stig = findStig(document.stigs, (each) =>
    identityOf(each.stig_id, String(each.version ?? ""), each.release_info ?? ""),
  );
  return { kind: "cklb", name, document, stig, answers: cklbAnswers(stig), fqdn: document.target_data.fqdn ?? "" };
}

function ofCkl(content: string, name: string): Checklist {
  const document = parseCkl(content);
  const fact = (stig: CklStig, key: string) => stig.facts.get(key) ?? "";
  const stig = findStig(document.stigs, (each) =>
    identityOf(fact(each, "stigid"), fact(each, "version"), fact(each, "releaseinfo")),
  );
  return { kind: "ckl", name, document, stig, answers: cklAnswers(stig), fqdn: childText(document.asset, "HOST_FQDN") };
}

/** `Okta_IDaaS_STIG V1R2`. */
function identityOf(id: string, version: string, releaseInfo: string): string {
  return `${id.replace("xccdf_mil.disa.stig_benchmark_", "")} ${revisionOf(version, releaseInfo)}`;
}

/** `1` and `Release: 2 Benchmark Date: …` as `V1R2`. */
export function revisionOf(version: string, releaseInfo: string): string {
  const [release = "?"] = /(?<=Release:\s*)\d+/.exec(releaseInfo) ?? [];
  return `V${/\d+/.exec(version)?.[0] ?? "?"}R${release}`;
}

function findStig<Stig>(stigs: readonly Stig[], identify: (stig: Stig) => string): Stig {
  const wanted = identityOf(benchmark.benchmark_id, benchmark.version, benchmark.release_info);
  const found = stigs.filter((stig) => identify(stig) === wanted);
  const [first] = found;
  if (found.length > 1) throw new TypeError(`it has ${wanted} ${found.length} times: expected it once`);
  if (first !== undefined) return first;
  const names = stigs.map(identify).map((name) => JSON.stringify(name.slice(0, 80)));
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  throw new TypeError(`it is of ${names.slice(0, maxNamed).join(", ")}${more}: expected ${wanted}`);
}

const maxNamed = 5;
