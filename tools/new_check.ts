import { camelCase, type Start } from "./start.ts";

/** A check with its table test, its rule in the catalog and its section in `docs/verdicts.md`. */
export function newCheck(name: string, [vulnId = "", stigId = "OKTA-APP-000000"]: readonly string[]): Start {
  if (!/^V-\d{6}$/.test(vulnId)) {
    throw new RangeError(
      `${JSON.stringify(vulnId)} is no STIG rule: expected npm run new -- check ${name} V-123456 [STIG-ID]`,
    );
  }
  const constant = camelCase(name);
  const rule = {
    check: name,
    vuln_id: vulnId,
    rule_id: `SV-${vulnId.slice(2)}r000000_rule`,
    stig_id: stigId,
    severity: "medium",
    category: "II",
    title: "TODO: the rule's title",
    group_title: "TODO: SRG-APP-…",
    satisfies: [],
    ccis: ["CCI-000366"],
    nist_800_53_r5: ["CM-6 b"],
    scopes: ["logStreams.read"],
    role: "read_only_admin",
    coverage: "full",
    discussion: "TODO: the rule's discussion",
    check_text: "TODO: the rule's check text.",
    fix_text: "TODO: the rule's fix text",
  };
  const verdicts = "docs/verdicts.md";
  return {
    files: {
      [`scanner/checks/${name}.ts`]: source(name, constant),
      [`test/scanner/checks/${name}.test.ts`]: tests(name),
    },
    edits: [
      {
        path: "scanner/checks/all_checks.ts",
        text: `import { ${constant} } from "./${name}.ts";\n`,
        before: "\n/** Every check",
      },
      { path: "scanner/checks/all_checks.ts", text: `  ${constant},\n`, before: "];", from: "allChecks" },
      {
        path: "scanner/catalog/okta_idaas_stig.json",
        text: `,\n${indented(JSON.stringify(rule, null, 2))}`,
        before: "\n  ]\n}",
      },
      {
        path: "shared/rule_names.ts",
        text: `  ["${name}", "${vulnId}", "${stigId}", "${rule.rule_id}"],\n`,
        before: "];\n\nexport const stigRuleNames",
      },
      { path: verdicts, text: section(name, vulnId), before: "### V-273202" },
    ],
    commands: [["node_modules/vitest/vitest.mjs", "run", "test/scanner/golden.test.ts", "--update"]],
    derived: ["test/golden"],
    next: [
      `scanner/checks/${name}.ts: declare the artifacts that it needs and judge them`,
      `test/scanner/checks/${name}.test.ts: both sides of every limit, and every shape that is not understood`,
      `scanner/catalog/okta_idaas_stig.json: DISA's own words, scopes and role of ${vulnId}`,
      `${verdicts}: what a PASS rests on, and what it does not cover`,
      "practice_org/profiles/: an org that passes it and one that fails it",
    ],
  };
}

function source(name: string, constant: string): string {
  return `import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import { fail, judgeList, pass } from "./evaluating/finding_drafts.ts";
import { readText } from "./parsing/fields.ts";
import { resourceOf } from "./parsing/names.ts";

const expected = "TODO: what the rule wants";

export const ${constant} = defineCheck({
  name: "${name}",
  artifacts: ["log_streams"],
  explanation: {
    examines: "TODO: which of the provider's settings are looked at.",
    why: "TODO: what an attacker can do where this is not set.",
    fix: ["TODO: the first step in the Admin Console"],
    deciding_fields: ["GET /api/v1/logStreams: type"],
  },
  evaluate: ({ log_streams: streams }) =>
    judgeList(streams, { expected, judgeItem: judgeStream, judgeEmpty: () => [fail({ resource: null, expected }, "none")] }),
});

function judgeStream(stream: JsonObject): FindingDraft {
  const subject = { resource: resourceOf("log_stream", stream), expected };
  const type = readText(stream, "type");
  return type.kind === "value" ? pass(subject, type.value) : fail(subject, "not set");
}
`;
}

function tests(name: string): string {
  return `import { expect, test } from "vitest";
import { missing, obtained, type JsonList } from "../../../scanner/evidence/artifacts.ts";
import { evaluate } from "../../support/artifact_builders.ts";

const check = "${name}";
const stream = (type: unknown) => ({ id: "0oa1", name: "SIEM", status: "ACTIVE", type });

test.each<[what: string, streams: JsonList, status: string]>([
  ["what the rule wants is PASS", [stream("aws_eventbridge")], "PASS"],
  ["what is not set is FAIL", [stream(undefined)], "FAIL"],
  ["none is FAIL", [], "FAIL"],
])("%s", (_, streams, status) => {
  expect(evaluate(check, { log_streams: obtained(streams) })).toMatchObject({ status });
});

test("evidence that could not be obtained decides nothing", () => {
  const result = evaluate(check, { log_streams: missing("missing_scope", "the scope is not granted") });
  expect(result).toMatchObject({ status: "MANUAL", reason: "missing_scope" });
});
`;
}

function section(name: string, vulnId: string): string {
  return `### ${vulnId} · \`${name}\`

DISA: "TODO: the rule's check text."

- PASS: \`GET /api/v1/logStreams\`. TODO: which fields, and what they have to be.
- Not covered: TODO: what the API does not show.
- For a person: TODO: what is left to do by hand.
- Coverage: full

`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "    ");
}
