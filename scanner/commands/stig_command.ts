import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { revisionName, type CatalogCheck } from "../catalog/catalog.ts";
import { changedLines, compareRevisions, type RevisionDiff } from "../revisions/compare_revisions.ts";
import { addRevision, findRevision, knownRevisions, type KnownRevision } from "../revisions/revision_store.ts";

/** `stig`: the revisions of DISA's STIG that this machine has. */

export interface StigFlags {
  readonly format: string;
}

/** `stig list`. */
export async function listStigs({ format }: StigFlags, io: CommandIo): Promise<number> {
  const rows = (await knownRevisions(io.env)).map(describeRevision);
  if (format === "json") {
    io.stdout(`${JSON.stringify(rows, null, 2)}\n`);
    return exitCodes.ok;
  }
  const lines = rows.map(
    ({ name, date, rules, origin }) =>
      `${name.padEnd(24)} ${date.padEnd(12)} ${countOf(rules, "rule").padEnd(9)} ${origin}`,
  );
  io.stdout(`${lines.join("\n")}\n`);
  return exitCodes.ok;
}

function describeRevision({ benchmark, checks, origin, sha256 }: KnownRevision) {
  const { id: name, benchmark_id, version, release_info: release } = benchmark;
  return {
    name,
    benchmark_id,
    version,
    release: /Release:\s*(\d+)/.exec(release)?.[1] ?? "",
    date: /Benchmark Date:\s*(.+)/.exec(release)?.[1] ?? "",
    rules: checks.length,
    origin,
    sha256,
  };
}

/** `stig show`: the rules of a revision, and which of them a check judges. */
export async function showStig(name: string | undefined, { format }: StigFlags, io: CommandIo): Promise<number> {
  const revision = await findRevision(name, io.env, "stig show");
  if (format === "json") {
    const rules = revision.checks.map((check) => ({ ...check.rule, judged_by: judgedBy(check) }));
    io.stdout(
      `${JSON.stringify({ ...describeRevision(revision), title: revision.benchmark.title, rules }, null, 2)}\n`,
    );
    return exitCodes.ok;
  }
  const { title, release_info: release } = revision.benchmark;
  const lines = revision.checks.map(
    (check) => `${check.rule.vuln_id}  CAT ${check.rule.category.padEnd(3)}  ${check.rule.title}${noteOf(check)}`,
  );
  io.stdout(`${printable(`${title} ${revisionName(revision.benchmark)}`)}\n${printable(release)}\n\n`);
  io.stdout(`${lines.map((line) => printable(line)).join("\n")}\n\n${judgedLine(revision)}\n`);
  return exitCodes.ok;
}

/** The name of the check, or why none judges the rule. */
function judgedBy({ name, unjudged }: CatalogCheck): string {
  return unjudged === undefined ? name : unjudged.reason;
}

function noteOf({ unjudged }: CatalogCheck): string {
  if (unjudged === undefined) return "";
  return unjudged.reason === "rule_changed" ? " (the text changed: manual review)" : " (no check: manual review)";
}

function judgedLine({ benchmark, checks }: KnownRevision): string {
  const left = checks.filter(({ unjudged }) => unjudged !== undefined);
  const judged = `${checks.length - left.length} of the ${countOf(checks.length, "rule")} of ${revisionName(benchmark)} are evaluated`;
  if (left.length === 0) return `${judged}.`;
  return `${judged}; manual review for ${left.map(({ rule }) => rule.vuln_id).join(", ")}.`;
}

/** `stig diff`: what DISA changed. */
export async function diffStigs(
  { before, after }: { readonly before: string; readonly after: string },
  { format }: StigFlags,
  io: CommandIo,
): Promise<number> {
  const [old, now] = [await findRevision(before, io.env, "stig diff"), await findRevision(after, io.env, "stig diff")];
  const diff = compareRevisions(old, now);
  if (format === "json") {
    const about = ({ vuln_id, title }: { vuln_id: string; title: string }) => ({ vuln_id, title });
    const changed = diff.changed.map(({ after: rule, fields }) => ({ ...about(rule), fields }));
    const { unchanged, added, removed } = diff;
    const document = { before: old.benchmark.id, after: now.benchmark.id, unchanged };
    io.stdout(
      `${JSON.stringify({ ...document, added: added.map(about), removed: removed.map(about), changed }, null, 2)}\n`,
    );
  } else {
    io.stdout(
      `${diffLines(diff, old, now)
        .map((line) => printable(line))
        .join("\n")}\n`,
    );
  }
  return exitCodes.ok;
}

function diffLines(diff: RevisionDiff, old: KnownRevision, now: KnownRevision): readonly string[] {
  const { added, removed, changed, unchanged } = diff;
  const listed = (what: string, rules: RevisionDiff["added"]) =>
    rules.length === 0
      ? []
      : ["", `${what} (${rules.length})`, ...rules.map(({ vuln_id: id, title }) => `  ${id}  ${title}`)];
  return [
    `${revisionName(old.benchmark)} → ${revisionName(now.benchmark)}: ${added.length} new, ${removed.length} gone, ${changed.length} changed, ${unchanged} the same`,
    ...listed("New", added),
    ...listed("Gone", removed),
    ...(changed.length === 0 ? [] : ["", `Changed (${changed.length})`]),
    ...changed.flatMap(({ after: rule, fields }) => [
      `  ${rule.vuln_id}  ${rule.title}`,
      ...fields.flatMap((field) => [
        `    ${field.field.replaceAll("_", " ")}`,
        ...changedLines(field).map((line) => `      ${line}`),
      ]),
    ]),
  ];
}

/** `stig add`: keeps DISA's zip or XCCDF for `--benchmark`. */
export async function addStig(file: string, io: CommandIo): Promise<number> {
  const { revision, isNew, file: path } = await addRevision(file, io.env);
  const { benchmark } = revision;
  const what = isNew
    ? `Added ${benchmark.id} to ${path ?? ""}`
    : `${benchmark.id} was already added, with the same content`;
  io.stdout(`${printable(what)}\n${printable(judgedLine(revision))}\nUse it with --benchmark ${benchmark.id}\n`);
  return exitCodes.ok;
}
