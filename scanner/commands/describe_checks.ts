import type { CatalogCheck } from "../catalog/catalog.ts";

/** A check as `checks --format json` lists it. */
export interface CheckDescription {
  readonly check: string;
  readonly vuln_id: string;
  readonly stig_id: string;
  readonly rule_id: string;
  readonly category: string;
  readonly severity: string;
  readonly scopes: readonly string[];
  readonly role: string;
  readonly coverage: string;
  readonly title: string;
}

export function describeCheck({ name, rule }: CatalogCheck): CheckDescription {
  const { vuln_id, stig_id, rule_id, category, severity, scopes, role, coverage, title } = rule;
  return { check: name, vuln_id, stig_id, rule_id, category, severity, scopes, role, coverage, title };
}

/** `checks`: one line each. */
export function listChecks(checks: readonly CatalogCheck[]): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.map(({ name, rule }) => {
    const role = rule.role === "super_admin" ? "super" : "read-only";
    return `${rule.vuln_id}  ${rule.stig_id}  CAT ${rule.category.padEnd(3)} ${name.padEnd(width)}  ${role.padEnd(9)}  ${rule.scopes.join(" ")}`;
  });
  return `${lines.join("\n")}\n`;
}

/** `explain CHECK`: what it examines, why, how to fix it in the console, which API fields decide. */
export function explainCheck({ name, rule, explanation }: CatalogCheck): string {
  const role = rule.role === "super_admin" ? "Super Administrator" : "Read-Only Administrator";
  const sections = [
    `${name}\n${rule.title}`,
    `${rule.vuln_id} · ${rule.stig_id} · ${rule.rule_id} · CAT ${rule.category} (${rule.severity})`,
    `Examines\n${indent(explanation.examines)}`,
    `Why\n${indent(explanation.why)}`,
    `How to fix\n${explanation.fix.map((step, index) => indent(`${index + 1}. ${step}`)).join("\n")}`,
    `Which API fields decide\n${explanation.deciding_fields.map((field) => indent(field)).join("\n")}`,
    `Needs\n${indent(`scopes ${rule.scopes.join(", ")}; role ${role}`)}`,
    ...(rule.coverage === "partial"
      ? [
          `Coverage\n${indent("partial: the API shows a part of what the rule asks; a person attests the rest (--attestations)")}`,
        ]
      : []),
    `DISA's check\n${indent(rule.check_text)}`,
    `DISA's fix\n${indent(rule.fix_text)}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
