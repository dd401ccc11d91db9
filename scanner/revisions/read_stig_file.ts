import { buffer } from "node:stream/consumers";
import { fromBufferPromise } from "yauzl";
import { childrenOf, childText, parseXml, type XmlElement } from "../read_xml.ts";
import { ContentError } from "../../shared/usage_error.ts";
import type { Category, Severity } from "../../shared/report.ts";
import type { Benchmark, StigRule } from "../catalog/catalog.ts";

/** A rule as DISA's file has it, without what scanstream adds. */
export type DisaRule = Omit<StigRule, "check" | "nist_800_53_r5" | "scopes" | "role">;

export interface DisaBenchmark extends Benchmark {
  readonly rules: readonly DisaRule[];
}

const categories: Readonly<Record<Severity, Category>> = { high: "I", medium: "II", low: "III" };
const oktaStig = "Okta_IDaaS_STIG";

const maxXccdfBytes = 20 * 1_048_576;

/** Reads DISA's zip, or the XCCDF in it. Throws `ContentError`. */
export async function readStigFile(bytes: Buffer): Promise<DisaBenchmark> {
  const isZip = bytes.subarray(0, 2).toString("latin1") === "PK";
  return readXccdf(isZip ? await readZippedXccdf(bytes) : decode(bytes));
}

function decode(xccdf: Uint8Array): string {
  if (xccdf.byteLength > maxXccdfBytes) throw new ContentError(["its XCCDF is larger than 20 MiB"]);
  const text = new TextDecoder().decode(xccdf);
  if (text.includes("\uFFFD")) throw new ContentError(["it is not UTF-8 text: expected DISA's STIG"]);
  if (!text.trimStart().startsWith("<")) throw new ContentError(["it is neither a zip nor XML: expected DISA's STIG"]);
  return text;
}

/** The one XCCDF of the Okta STIG in a zip; those of other STIGs do not count. */
async function readZippedXccdf(bytes: Buffer): Promise<string> {
  const found = await readEntries(bytes).catch((error: unknown) => {
    if (error instanceof ContentError) throw error;
    throw new ContentError([`its zip is broken: ${error instanceof Error ? error.message : "it cannot be read"}`]);
  });
  const xccdf = found.map((text) => ({ text, id: benchmarkIdOf(parseXml(text)) }));
  const [first, second] = xccdf.filter(({ id }) => id === oktaStig);
  if (second !== undefined) throw new ContentError(["its zip has two XCCDF files of the Okta STIG: expected one"]);
  if (first !== undefined) return first.text;
  const others = xccdf.flatMap(({ id }) => (id === null ? [] : [JSON.stringify(id.slice(0, 60))]));
  throw new ContentError([
    `its zip has no XCCDF of the Okta STIG${others.length === 0 ? "" : `, but ${others.slice(0, 5).join(", ")}`}: expected the zip of this one STIG, as DISA publishes it`,
  ]);
}

/** The texts of the entries *xccdf.xml. The library refuses names that lead out of their folder, and entries larger than they say. */
async function readEntries(bytes: Buffer): Promise<readonly string[]> {
  const zip = await fromBufferPromise(bytes);
  const texts: string[] = [];
  let size = 0;
  for await (const entry of zip.eachEntry()) {
    if (!/xccdf\.xml$/i.test(entry.fileName)) continue;
    size += entry.uncompressedSize;
    if (size > maxXccdfBytes) throw new ContentError(["the XCCDF in its zip is larger than 20 MiB"]);
    texts.push(decode(await buffer(await zip.openReadStreamPromise(entry))));
  }
  return texts;
}

/** The id of the benchmark in a file; null: it is XML, but not XCCDF. Throws `ContentError` for a file that is not XML. */
function benchmarkIdOf(xml: XmlElement): string | null {
  return xml.name === "Benchmark" ? (xml.attributes["id"] ?? "") : null;
}

/** Reads DISA's manual XCCDF of the Okta STIG. Throws `ContentError`. */
export function readXccdf(text: string): DisaBenchmark {
  const root = parseXml(text);
  const id = benchmarkIdOf(root);
  if (id === null) throw new ContentError([`it is no STIG: expected an XCCDF <Benchmark>, found <${root.name}>`]);
  if (id !== oktaStig)
    throw new ContentError([`it is ${JSON.stringify(id.slice(0, 80))}: expected DISA's STIG ${oktaStig}`]);
  const version = childText(root, "version").trim();
  const release = childrenOf(root, "plain-text").find((each) => each.attributes["id"] === "release-info")?.text;
  const [, number] = /Release:\s*(\d{1,3})\b/.exec(release ?? "") ?? [];
  if (!/^\d{1,3}$/.test(version) || release === undefined || number === undefined)
    throw new ContentError(["it does not say which version and release it is"]);
  const groups = childrenOf(root, "Group");
  if (groups.length === 0) throw new ContentError(["it has no rules"]);
  const rules = groups.map(readRule);
  for (const key of ["vuln_id", "rule_id", "stig_id"] as const) {
    const seen = new Set<string>();
    const repeated = rules.find((rule) => seen.size === seen.add(rule[key]).size);
    if (repeated !== undefined) throw new ContentError([`it has the rule ${repeated[key]} twice`]);
  }
  return {
    id: `okta-idaas-stig-v${Number(version)}r${Number(number)}`,
    benchmark_id: id,
    title: childText(root, "title").trim(),
    version,
    release_info: release.trim(),
    target_key: targetKeyOf(groups[0]),
    rules,
  };
}

function readRule(group: XmlElement): DisaRule {
  const vulnId = group.attributes["id"] ?? "";
  const [rule, second] = childrenOf(group, "Rule");
  const fail = (problem: string) => new ContentError([`the rule ${JSON.stringify(vulnId.slice(0, 40))} ${problem}`]);
  if (!/^V-\d{1,9}$/.test(vulnId)) throw fail("has no id such as V-273186");
  if (rule === undefined || second !== undefined) throw fail("has no text, or two: expected one <Rule>");
  const ruleId = rule.attributes["id"] ?? "";
  if (!/^SV-\d{1,9}r\d{1,9}_rule$/.test(ruleId)) throw fail("has no rule id such as SV-273186r1098825_rule");
  const severity = rule.attributes["severity"] ?? "";
  if (!isSeverity(severity)) throw fail(`has the severity ${JSON.stringify(severity)}: expected high, medium or low`);
  const check = childrenOf(rule, "check").map((each) => childText(each, "check-content"));
  const fix = childrenOf(rule, "fixtext").map(({ text }) => text);
  const title = childText(rule, "title").trim();
  const stigId = childText(rule, "version").trim();
  const [checkText, fixText] = [check.join("\n"), fix.join("\n")];
  if ([title, stigId, checkText.trim(), fixText.trim()].includes(""))
    throw fail("is incomplete: expected a title, a STIG id, a check text and a fix text");
  const discussion = discussionOf(childText(rule, "description"));
  return {
    vuln_id: vulnId,
    rule_id: ruleId,
    stig_id: stigId,
    severity,
    category: categories[severity],
    title,
    group_title: childText(group, "title").trim(),
    satisfies: (/Satisfies: (.+)/.exec(discussion)?.[1] ?? "").split(/,\s*/).filter(Boolean).toSorted(),
    ccis: childrenOf(rule, "ident").flatMap(({ text }) => (/^CCI-\d{6}$/.test(text.trim()) ? [text.trim()] : [])),
    discussion,
    check_text: checkText,
    fix_text: fixText,
  };
}

function isSeverity(text: string): text is Severity {
  return Object.hasOwn(categories, text);
}

/** DISA writes elements as escaped text into the description; the discussion may itself hold angle brackets. */
function discussionOf(description: string): string {
  const [start, end] = ["<VulnDiscussion>", "</VulnDiscussion>"];
  const [from, to] = [description.indexOf(start), description.lastIndexOf(end)];
  return from < 0 || to < from ? description : description.slice(from + start.length, to);
}

/** The number by which STIG Viewer and STIG Manager know the product. */
function targetKeyOf(group: XmlElement | undefined): string {
  const [rule] = group === undefined ? [] : childrenOf(group, "Rule");
  const reference = rule === undefined ? undefined : childrenOf(rule, "reference")[0];
  return reference?.children.find(({ name }) => name === "dc:identifier")?.text.trim() ?? "";
}
