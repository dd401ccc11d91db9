import { describe, expect, test } from "vitest";
import type { Report } from "../../../shared/report.ts";
import { reportOf } from "../../support/checklist_reports.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, renderAs } from "../../support/report_builders.ts";

interface Prop {
  readonly name: string;
  readonly value: string;
}

interface Result {
  readonly "reviewed-controls": {
    readonly "control-selections": readonly { readonly "include-controls": readonly { "control-id": string }[] }[];
  };
  readonly observations: readonly {
    readonly uuid: string;
    readonly props: readonly Prop[];
    readonly methods: string[];
  }[];
  readonly risks?: readonly {
    readonly uuid: string;
    readonly status: string;
    readonly deadline?: string;
    readonly props: readonly Prop[];
    readonly remediations: readonly { lifecycle: string; description: string; tasks?: readonly object[] }[];
    readonly "related-observations": readonly { "observation-uuid": string }[];
  }[];
  readonly findings?: readonly {
    readonly uuid: string;
    readonly props: readonly Prop[];
    readonly target: { "target-id": string; type: string; status: { state: string } };
    readonly "related-observations": readonly { "observation-uuid": string }[];
    readonly "related-risks"?: readonly { "risk-uuid": string }[];
  }[];
}

function resultOf(report: Report): Result {
  const document = JSON.parse(renderAs("oscal", report)) as { "assessment-results": { results: readonly [Result] } };
  return document["assessment-results"].results[0];
}

function valueOf(props: readonly Prop[], name: string): string | undefined {
  return props.find((prop) => prop.name === name)?.value;
}

const report = aReport(everyVerdict());
const result = resultOf(report);

test("reviews the 23 controls of the STIG, and of a scan of one rule only its own", () => {
  const ids = (of: Result) =>
    of["reviewed-controls"]["control-selections"].flatMap((selection) =>
      selection["include-controls"].map((control) => control["control-id"]),
    );
  expect(ids(result)).toHaveLength(23);
  expect(ids(resultOf(aReport(report.checks.slice(0, 1))))).toEqual(["ac-11", "sc-10"]);
});

test("has an observation for each finding and each attestation, with the ids of its rule", () => {
  const findings = report.checks.flatMap((check) => check.findings);
  const attestations = report.checks.filter((check) => check.attestation !== null);
  expect(result.observations).toHaveLength(findings.length + attestations.length);
  const [first] = result.observations;
  expect(valueOf(first?.props ?? [], "vuln-id")).toBe("V-273186");
  expect(valueOf(first?.props ?? [], "rule-id")).toBe("SV-273186r1098825_rule");
  expect(first?.props.filter(({ name }) => name === "cci").map(({ value }) => value)).toEqual([
    "CCI-000057",
    "CCI-001133",
  ]);
});

test("says of a control that it is satisfied, that it is not, or nothing where that is for a person", () => {
  const { findings = [], observations } = resultOf(
    reportOf({ "V-273187": "FAIL", "V-273186": "PASS", "V-273195": "MANUAL" }),
  );
  const states = new Map(findings.map(({ target }) => [target["target-id"], target.status.state]));
  expect(states.get("ac-11_obj")).toBe("not-satisfied");
  expect(states.get("sc-10_obj")).toBe("satisfied");
  expect(states.has("ia-5.1_obj")).toBe(false);
  const related = findings.flatMap((finding) =>
    finding["related-observations"].map((each) => each["observation-uuid"]),
  );
  const manual = observations.find(({ props }) => valueOf(props, "vuln-id") === "V-273195");
  expect(valueOf(manual?.props ?? [], "verdict")).toBe("MANUAL");
  expect(related).not.toContain(manual?.uuid);
});

test("every reference leads to what is there", () => {
  const observations = new Set(result.observations.map(({ uuid }) => uuid));
  const risks = new Set(result.risks?.map(({ uuid }) => uuid));
  for (const part of [...(result.findings ?? []), ...(result.risks ?? [])]) {
    for (const { "observation-uuid": uuid } of part["related-observations"]) expect(observations).toContain(uuid);
  }
  for (const finding of result.findings ?? []) {
    for (const { "risk-uuid": uuid } of finding["related-risks"] ?? []) expect(risks).toContain(uuid);
  }
});

describe("a risk", () => {
  test("has the date and the steps of its plan", () => {
    const milestones = [
      { description: "Draft", date: null },
      { description: "Done", date: "2026-12-30T10:00:00+01:00" },
    ];
    const plan = { remediation_date: "2026-12-31", milestones, reason: "Change 7", overdue: false };
    const [risk] = resultOf(aReport([aCheckResult({ findings: [aFinding({ plan })] })])).risks ?? [];
    expect(risk).toMatchObject({
      deadline: "2026-12-31T23:59:59Z",
      remediations: [
        { lifecycle: "recommendation" },
        {
          lifecycle: "planned",
          description: "Change 7",
          tasks: [{ title: "Draft" }, { title: "Done", timing: { "on-date": { date: "2026-12-30T10:00:00+01:00" } } }],
        },
      ],
    });
  });
});

test("its UUIDs are of version 5, none twice, and the same for the same scan", () => {
  const text = renderAs("oscal", report);
  const uuids = [...text.matchAll(/^\s*"uuid": "(.*)"/gm)].map(([, uuid]) => uuid);
  expect(new Set(uuids).size).toBe(uuids.length);
  for (const uuid of uuids) expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(renderAs("oscal", aReport(everyVerdict()))).toBe(text);
  const other = aReport(everyVerdict(), { scan: { ...report.scan, id: "00000000-0000-4000-8000-000000000000" } });
  expect(renderAs("oscal", other)).not.toContain(uuids[0]);
});
