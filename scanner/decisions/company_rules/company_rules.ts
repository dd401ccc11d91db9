import * as v from "valibot";
import { issueText } from "../../../shared/issue_text.ts";
import { readOptionFile } from "../../../command_line/files.ts";
import type { Category, Severity } from "../../../shared/report.ts";
import { companyIdPattern } from "../../../shared/schemas/report.ts";
import { catalog, type CatalogCheck, type StigRule } from "../../catalog/catalog.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import { companyCheck, companyCheckName, type CompanyRule } from "../../checks/company_check.ts";
import { artifactNames, viewOf } from "../../checks/company_checks/artifact_views.ts";
import type { Expression } from "../../checks/company_checks/expression.ts";
import {
  ExpressionError,
  maxExpressionLength,
  parseCondition,
  parsePath,
} from "../../checks/company_checks/parse_expression.ts";
import type { ArtifactName } from "../../evidence/artifacts.ts";
import { issuePath, lineFinder, parseOptionJson, refuseFile } from "../option_file.ts";
import { describeKeptFields, droppedField, pathOf } from "./company_fields.ts";

/** Several hundred rules with long texts. */
const maxCompanyRulesBytes = 1_048_576;
const maxRules = 500;
const bounds = { maxDepth: 8, maxParts: 5000, repeatedKeys: "refuse" } as const;

const line = (maxLength: number) =>
  v.pipe(
    v.string("expected a text"),
    v.trim(),
    v.nonEmpty("must not be empty"),
    v.maxLength(maxLength, `is too long: expected ${maxLength} characters at most`),
  );

const ruleSchema = v.strictObject({
  id: v.pipe(
    line(40),
    v.regex(companyIdPattern, "expected an id of your own in upper case, such as ACME-7; those of DISA are refused"),
  ),
  title: line(300),
  severity: v.picklist(["high", "medium", "low"], "expected high, medium or low"),
  artifact: line(60),
  each: v.optional(line(maxExpressionLength)),
  condition: line(maxExpressionLength),
  expected: line(1000),
  remediation: line(1900),
  if_none: v.optional(v.picklist(["PASS", "FAIL", "MANUAL"], "expected PASS, FAIL or MANUAL"), "MANUAL"),
});

const fileSchema = v.strictObject({
  schema: v.optional(v.literal("scanstream.checks/1", 'expected "scanstream.checks/1"')),
  checks: v.pipe(
    v.array(ruleSchema, "expected a list"),
    v.minLength(1, "expected at least one rule"),
    v.maxLength(maxRules, `expected ${maxRules} rules at most`),
  ),
});

type RuleEntry = v.InferOutput<typeof ruleSchema>;

/** The checks of `--checks`; throws `UsageError`. */
export function readCompanyRules(file: string): Promise<readonly CatalogCheck[]> {
  return readOptionFile({ option: "--checks", file, maxBytes: maxCompanyRulesBytes }, parseCompanyRules);
}

/** The checks of `--checks`, in the order of the file; throws `UsageError` naming everything that is wrong with it. */
export function parseCompanyRules(text: string, file: string): readonly CatalogCheck[] {
  const fail = refuseFile("--checks", file);
  const content = parseOptionJson(text, bounds, fail);
  const parsed = v.safeParse(fileSchema, content);
  if (!parsed.success) {
    const lineOf = lineFinder(text);
    throw fail(
      parsed.issues.map((issue) => issueText(issue, `${lineOf(issuePath(issue))}${v.getDotPath(issue) ?? "the file"}`)),
    );
  }
  const problems: string[] = [];
  const checks = parsed.output.checks.flatMap((entry) => toCheck(entry, problems));
  const names = checks.map(({ name }) => name);
  const repeated = checks.filter(({ name }, index) => names.indexOf(name) !== index);
  problems.push(
    ...repeated.map(
      ({ rule }) => `${rule.vuln_id}: this id, or one that differs only in dots and dashes, is given twice`,
    ),
  );
  if (problems.length > 0) throw fail(problems);
  return checks;
}

function toCheck(entry: RuleEntry, problems: string[]): readonly CatalogCheck[] {
  const { id, artifact, title, severity, expected, remediation, if_none: ifNone } = entry;
  if (!isArtifact(artifact)) {
    const nearest = nearestName(artifact, artifactNames);
    const advice = nearest === null ? "" : `did you mean ${nearest}? `;
    problems.push(
      `${id}.artifact: there is no artifact ${JSON.stringify(artifact)}: ${advice}expected one of ${artifactNames.join(", ")}`,
    );
    return [];
  }
  const each = parse(parsePath, { field: "each", text: entry.each ?? (viewOf(artifact).isList ? "[*]" : "@") });
  const condition = parse(parseCondition, { field: "condition", text: entry.condition });
  if (each === null || condition === null) return [];
  const places = [
    ["each", each, ""],
    ["condition", condition, pathOf(each, "")],
  ] as const;
  for (const [field, expression, path] of places) {
    const dropped = droppedField({ artifact, path }, expression);
    if (dropped === null) continue;
    problems.push(
      `${id}.${field}: a scan keeps no field ${JSON.stringify(dropped)} of ${artifact}: expected one of ${describeKeptFields(artifact)}`,
    );
  }
  const rule: CompanyRule = { id, title, severity, artifact, each, condition, expected, remediation, ifNone };
  return [{ ...companyCheck(rule), origin: "company", rule: toRule(rule) }];

  function parse(
    read: (text: string) => Expression,
    { field, text }: { readonly field: string; readonly text: string },
  ): Expression | null {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      problems.push(`${id}.${field}: ${error.message}`);
      return null;
    }
  }
}

function isArtifact(name: string): name is ArtifactName {
  return artifactNames.includes(name);
}

const categories: { readonly [Level in Severity]: Category } = { high: "I", medium: "II", low: "III" };

/** The rule in the form of the STIG's, so that every report can show it; no id is DISA's. */
function toRule(rule: CompanyRule): StigRule {
  const { id, title, severity, artifact, expected, remediation } = rule;
  const needs = needsOf(artifact);
  return {
    check: companyCheckName(id),
    vuln_id: id,
    rule_id: id,
    stig_id: id,
    severity,
    category: categories[severity],
    title,
    group_title: "Rules of the organization",
    satisfies: [],
    ccis: [],
    nist_800_53_r5: [],
    scopes: needs.scopes,
    role: needs.role,
    coverage: "full",
    discussion: title,
    check_text: expected,
    fix_text: remediation,
  };
}

/** The scopes and role of the rule of the STIG that needs least next to the artifact. */
function needsOf(artifact: ArtifactName): Pick<StigRule, "scopes" | "role"> {
  const rules = catalog.filter(({ artifacts }) => artifacts.includes(artifact)).map(({ rule }) => rule);
  const [least] = rules.toSorted((one, other) => one.scopes.length - other.scopes.length);
  return { scopes: least?.scopes ?? [], role: least?.role ?? "read_only_admin" };
}
