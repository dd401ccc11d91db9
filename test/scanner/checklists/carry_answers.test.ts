import { describe, expect, test } from "vitest";
import { builtIn, ruleFields, type Revision } from "../../../scanner/catalog/catalog.ts";
import { parseChecklist, withChecklistAnswers, type Checklist } from "../../../scanner/checklists/checklist.ts";
import { renderCkl, renderCklb } from "../../../scanner/reports/checklists.ts";
import { readXccdf } from "../../../scanner/revisions/read_stig_file.ts";
import { toRevision } from "../../../scanner/revisions/revision.ts";
import type { Report } from "../../../shared/report.ts";
import { importToStigManager } from "../../support/checklist_reports.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";
import { v1r1 } from "../../support/stig_files.ts";

const old = toRevision(readXccdf(v1r1));
const formats = { ckl: renderCkl, cklb: renderCklb } as const;
type Format = keyof typeof formats;

/** A report in which every rule is for a person. */
function unreviewed({ benchmark, checks }: Revision) {
  const finding = aFinding({ status: "MANUAL", reason: "needs_review" });
  const results = checks.map((check) =>
    aCheckResult({ ...ruleFields(check), status: "MANUAL", reason: "needs_review", findings: [finding] }),
  );
  return { ...aReport(results), benchmark: benchmark.id };
}

const render = (format: Format, revision: Revision, checklist?: Checklist, report: Report = unreviewed(revision)) =>
  formats[format](report, {
    color: false,
    width: 80,
    toolVersion: "1.2.3",
    revision,
    ...(checklist === undefined ? {} : { checklist }),
  });

/** A checklist of a revision in which a person has answered every rule. */
function worked(format: Format, revision: Revision): string {
  const text = render(format, revision);
  return format === "ckl"
    ? text
        .replaceAll("<STATUS>Not_Reviewed</STATUS>", "<STATUS>NotAFinding</STATUS>")
        .replaceAll(/<COMMENTS>[^<]*<\/COMMENTS>|<COMMENTS\/>/g, "<COMMENTS>seen by Ada</COMMENTS>")
    : text
        .replaceAll('"status": "not_reviewed"', '"status": "not_a_finding"')
        .replaceAll(/"comments": "[^"]*",\n(\s*"finding_details")/g, '"comments": "seen by Ada",\n$1');
}

const both = { old, new: builtIn };
const newRules = builtIn.checks.length - 24;
const open = (content: string, target: Revision) => parseChecklist(content, "old.ckl", target);

describe.each([
  ["ckl", "ckl"],
  ["ckl", "cklb"],
  ["cklb", "ckl"],
  ["cklb", "cklb"],
] as const)("a worked %s, written as %s", (from, to) => {
  test.each([
    ["V1R1", "V1R2", "old", "new", newRules, 0],
    ["V1R2", "V1R1", "new", "old", 0, newRules],
  ] as const)("of %s becomes one of %s with 24 answers", (name, next, before, after, added, gone) => {
    const checklist = open(worked(from, both[before]), both[after]);
    expect(checklist.carried).toMatchObject({ from: name, to: next, review: [] });
    expect(checklist.carried?.kept).toHaveLength(24);
    expect(checklist.carried?.added).toHaveLength(added);
    expect(checklist.carried?.gone).toHaveLength(gone);
    const text = render(to, both[after], checklist);
    const [imported] = importToStigManager(to, text).checklists;
    const { checks, benchmark } = both[after];
    expect(imported).toMatchObject({ benchmarkId: "Okta_IDaaS_STIG", revisionStr: next });
    expect(new Set(imported?.reviews.map(({ ruleId }) => ruleId))).toEqual(
      new Set(checks.map(({ rule }) => rule.rule_id)),
    );
    expect(imported?.reviews.filter(({ result }) => result === "pass")).toHaveLength(24);
    expect(text.split("seen by Ada")).toHaveLength(25);
    // The written checklist is of its revision: the next run has nothing to carry.
    expect(open(text, both[after]).carried).toBeNull();
    expect(text).toContain(benchmark.release_info);
  });
});

describe("where the text of a rule changed", () => {
  const changed = toRevision(
    readXccdf(v1r1.replace("set to 15 minutes.\n", "set to 10 minutes.\n").replace("Release: 1 ", "Release: 3 ")),
  );

  test("the answer arrives, marked once, and the report says so", () => {
    const checklist = open(worked("ckl", old), changed);
    expect(checklist.carried).toMatchObject({ from: "V1R1", to: "V1R3", review: ["V-273186"] });
    expect(checklist.answers.get("V-273186")).toEqual({
      status: "not_a_finding",
      details: "",
      comments: "carried from V1R1, review\nseen by Ada",
    });
    const back = open(render("cklb", changed, checklist), builtIn);
    expect(back.answers.get("V-273186")?.comments).toBe("carried from V1R3, review\nseen by Ada");
    const [first, second] = withChecklistAnswers(unreviewed(changed).checks, checklist);
    expect(first?.carried).toEqual({ from: "V1R1", review: true });
    expect(second?.carried).toEqual({ from: "V1R1", review: false });
  });

  test("what the scanner itself had written by the other text is dropped", () => {
    const passed = aReport(
      old.checks.map((check) => aCheckResult({ ...ruleFields(check), findings: [aFinding({ status: "PASS" })] })),
    );
    const checklist = open(render("ckl", old, undefined, passed), changed);
    expect(checklist.answers.get("V-273186")).toEqual({ status: "not_reviewed", details: "", comments: "" });
    expect(checklist.answers.get("V-273187")?.status).toBe("not_a_finding");
    expect(checklist.carried).toMatchObject({ kept: [], review: [] });
  });
});

test("a checklist that does not say its release is carried as one of an unknown revision", () => {
  const text = worked("ckl", old).replace(/<SID_DATA>Release: 1[^<]*<\/SID_DATA>/, "<SID_DATA></SID_DATA>");
  const { carried } = open(text, builtIn);
  expect(carried).toMatchObject({ from: "an unknown revision", review: [] });
  expect(carried?.kept).toHaveLength(24);
});
