import type { Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { shorten } from "../../shared/text.ts";
import type { Benchmark, StigRule } from "../catalog/catalog.ts";
import { mergeAnswer, personsPart, type AutomatedAnswer, statusOf } from "../checklists/answers.ts";
import type { Checklist } from "../checklists/checklist.ts";
import { emptyRule, writeCkl } from "../checklists/ckl.ts";
import {
  benchmarkFields,
  disaFields,
  fullNameOf,
  textOf,
  withAnswer,
  type CklbChecklist,
  type CklbRule,
  type CklbStig,
} from "../checklists/cklb.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import {
  benchmarkRules,
  hostOf,
  orgNameOf,
  siteOf,
  type RuleOutcome,
  toJson,
  type RenderOptions,
} from "./report_format.ts";

/** CKLB 1.0: the checklist of STIG Viewer 3, eMASS and STIG Manager. Every rule of the STIG, no matter what was selected. */
export function renderCklb(report: Report, options: RenderOptions): string {
  const checklist = toChecklist(report, options);
  // CKLB has no place for what only CKL says; JSON leaves out what is undefined.
  return toJson({ ...checklist, stigs: checklist.stigs.map((stig) => ({ ...stig, ckl_facts: undefined })) });
}

/** CKL: the checklist of STIG Viewer 2, eMASS, STIG Manager and heimdall. */
export function renderCkl(report: Report, options: RenderOptions): string {
  return writeCkl(toChecklist(report, options));
}

/** The checklist of this scan; with one that people worked in, that one with this scan's results in it. */
function toChecklist(report: Report, options: RenderOptions): CklbChecklist {
  const { document, stig } = options.checklist ?? freshChecklist(report, options);
  const { benchmark, checks } = options.revision;
  const known = new Set(stig.rules.map((rule) => rule["group_id"]));
  const context = { benchmark, stigUuid: textOf(stig, "uuid"), endedAt: report.scan.ended_at };
  const added = checks.filter(({ rule }) => !known.has(rule.vuln_id)).map(({ rule }) => toRule(rule, context));
  const { answers } = answersOf(report, options);
  const rules = [...stig.rules, ...added].map((rule) => {
    const answer = answers.get(textOf(rule, "group_id"));
    return answer === undefined ? rule : withAnswer(withoutEngine(rule), answer);
  });
  const written = { ...withoutEngine(stig), ...(added.length > 0 && { size: rules.length }), rules };
  return { ...document, stigs: document.stigs.map((each) => (each === stig ? written : each)) };
}

/** Evaluate-STIG's field names the engine of the results, which they are not of any more. */
function withoutEngine<Fields extends CklbStig | CklbRule>(fields: Fields): Fields {
  const { "evaluate-stig": _, ...others } = fields;
  return others as Fields;
}

/** Without a rule yet. */
function freshChecklist(report: Report, options: RenderOptions): Pick<Checklist, "document" | "stig"> {
  const { benchmark } = options.revision;
  const [host, site] = [hostOf(report), siteOf(report)];
  const stig: CklbStig = {
    ...benchmarkFields(benchmark),
    uuid: stableUuid("stig", report.scan.id),
    size: 0,
    rules: [],
  };
  const document: CklbChecklist = {
    title: `${orgNameOf(report)} ${benchmark.title}`,
    id: stableUuid("checklist", report.scan.id),
    // The next three are the viewer's own state, with the values of an unopened file.
    active: false,
    mode: 1,
    has_path: true,
    target_data: {
      target_type: "Non-Computing",
      host_name: shorten(host, 255),
      ip_address: "",
      mac_address: "",
      fqdn: fullNameOf(host),
      comments: `Scan ${report.scan.id} of ${report.scan.org_url}`,
      role: "None",
      // The one field by which readers of checklists keep apart two assets of one host.
      is_web_database: site !== "",
      technology_area: "Other Review",
      web_db_site: site,
      web_db_instance: "",
      classification: null,
    },
    stigs: [stig],
    cklb_version: "1.0",
  };
  return { document, stig };
}

/** A rule that nobody has answered. */
function toRule(
  rule: StigRule,
  {
    benchmark,
    stigUuid,
    endedAt,
  }: { readonly benchmark: Benchmark } & Readonly<Record<"stigUuid" | "endedAt", string>>,
): CklbRule {
  return {
    uuid: stableUuid("rule", stigUuid, rule.rule_id),
    ...emptyRule,
    ...disaFields(rule),
    stig_uuid: stigUuid,
    target_key: null,
    classification: "NONE",
    reference_identifier: benchmark.target_key,
    check_content_ref: { href: `${benchmark.benchmark_id}.xml`, name: "M" },
    legacy_ids: [],
    createdAt: endedAt,
    updatedAt: endedAt,
    STIGUuid: stigUuid,
    status: "not_reviewed",
    overrides: {},
    comments: "",
    finding_details: "",
  };
}

/**
 * Returns the answer of this scan at each rule of the benchmark by V-id, merged with those of a checklist that people worked in, and the
 * rules that a person had answered and the scan decided otherwise.
 */
export function answersOf(
  report: Report,
  { checklist, toolVersion, revision }: Pick<RenderOptions, "toolVersion" | "checklist" | "revision">,
) {
  const engine = { toolVersion, time: report.scan.ended_at };
  const answers = new Map(
    benchmarkRules(report, revision).map((outcome) => {
      const vulnId = outcome.rule.vuln_id;
      const before = checklist?.answers.get(vulnId);
      const isGiven = before !== undefined && personsPart(before).answered !== null;
      return [vulnId, mergeAnswer(before, automatedAnswer(outcome, isGiven), engine)];
    }),
  );
  const differences = [...answers].flatMap(([vulnId, { differing: answered, status }]) =>
    answered === null ? [] : [{ vulnId, answered, status }],
  );
  return { answers, differences };
}

/** Null: this scan did not examine the rule. An answer that a person gave in the checklist is not the scan's. */
function automatedAnswer({ check, details, comments }: RuleOutcome, isGiven: boolean): AutomatedAnswer | null {
  if (check === null) return null;
  const attestation = isGiven && check.attestation?.source === "checklist" ? null : check.attestation;
  const state = stateOf({ ...check, attestation });
  return {
    status: statusOf(state),
    details,
    comments: attestation === check.attestation ? comments : "",
    // A MANUAL is for a person to answer, also where its reason says that the rule does not apply.
    hasVerdict: state === "pass" || state === "fail" || (state === "not_applicable" && attestation !== null),
  };
}
