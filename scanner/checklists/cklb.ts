import * as v from "valibot";
import { issueText } from "../../shared/issue_text.ts";
import { ContentError } from "../../shared/usage_error.ts";
import type { Benchmark, StigRule } from "../catalog/catalog.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { type Answer, statusNames } from "./answers.ts";

const text = v.nullish(v.string("expected a text"));

const ruleShape = v.looseObject({
  group_id: v.string("expected a text such as V-273186"),
  status: v.picklist(statusNames, `expected one of ${statusNames.join(", ")}`),
  finding_details: text,
  comments: text,
});

const stigShape = v.looseObject({
  stig_id: v.string("expected a text"),
  version: v.nullish(v.union([v.string(), v.number()], "expected a text")),
  release_info: text,
  // The rules of another STIG are not checked here.
  rules: v.array(v.looseObject({}), "expected a list"),
});

const shape = v.looseObject({
  target_data: v.looseObject({ host_name: v.string("expected a text"), fqdn: text }),
  stigs: v.pipe(v.array(stigShape, "expected a list"), v.nonEmpty("expected a STIG")),
});

/** A checklist in the form of CKLB; fields that nothing here reads are kept as they are. */
export type CklbChecklist = v.InferOutput<typeof shape>;
export type CklbStig = CklbChecklist["stigs"][number];
export type CklbRule = CklbStig["rules"][number];

/** Throws `ContentError`. */
export function parseCklb(content: string): CklbChecklist {
  return parseShape(
    shape,
    parseJsonText(content, { repeatedKeys: "refuse", texts: "as_written" }),
    "it is not a valid CKLB: ",
  );
}

/** The answers of one STIG by V-id; throws like `parseCklb`. */
export function cklbAnswers(stig: CklbStig): ReadonlyMap<string, Answer> {
  const rules = parseShape(v.array(ruleShape), stig.rules, "rules.");
  const answers = new Map<string, Answer>();
  for (const { group_id: id, status, finding_details: details, comments } of rules) {
    // Two answers to one rule may contradict each other, and one of them would be lost.
    if (answers.has(id)) throw new ContentError([`it has the rule ${JSON.stringify(id)} twice: expected it once`]);
    answers.set(id, { status, details: details ?? "", comments: comments ?? "" });
  }
  return answers;
}

/** The rule with another answer. */
export function withAnswer(rule: CklbRule, { status, details, comments }: Answer): CklbRule {
  return { ...rule, status, finding_details: details, comments };
}

function parseShape<Schema extends v.GenericSchema>(schema: Schema, value: unknown, place: string) {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  // The value itself: the fields stay in their order.
  if (parsed.success) return value as v.InferOutput<Schema>;
  const [issue] = parsed.issues;
  throw new ContentError([`${place}${issueText(issue)}`]);
}

/** Fields of a checklist's rule in DISA's words. */
export function disaFields(rule: StigRule) {
  return {
    stig_ref: null,
    group_id: rule.vuln_id,
    group_id_src: rule.vuln_id,
    rule_id: rule.rule_id.replace(/_rule$/, ""),
    rule_id_src: rule.rule_id,
    severity: rule.severity,
    rule_version: rule.stig_id,
    group_title: rule.group_title,
    rule_title: rule.title,
    fix_text: rule.fix_text,
    check_content: rule.check_text,
    discussion: rule.discussion,
    ccis: rule.ccis,
    group_tree: [{ id: rule.vuln_id, title: rule.group_title, description: "<GroupDescription></GroupDescription>" }],
  };
}

/** Fields of a checklist about the STIG itself. */
export function benchmarkFields(benchmark: Benchmark) {
  return {
    stig_name: benchmark.title,
    display_name: displayNameOf(benchmark.title),
    stig_id: benchmark.benchmark_id,
    version: benchmark.version,
    release_info: benchmark.release_info,
    reference_identifier: benchmark.target_key,
  };
}

export function displayNameOf(title: string): string {
  return title.replace(/ Security Technical Implementation Guide$/, "");
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A field of a checklist, which another program may have left out or written as null. */
export function textOf(fields: Readonly<Record<string, unknown>>, name: string, otherwise = ""): string {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : otherwise;
}

/** The host where readers of checklists take it for a full name or an address; else empty, as they refuse the rest. */
export function fullNameOf(host: string): string {
  const isIPv6 = host.includes(":") && URL.canParse(`http://[${host}]/`);
  return isIPv6 || /^[\w-]+(\.[\w-]+)+$/.test(host) ? host : "";
}
