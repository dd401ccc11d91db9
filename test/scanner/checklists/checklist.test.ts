import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseChecklist, withChecklistAnswers } from "../../../scanner/checklists/checklist.ts";
import { splitDetails, type Answer } from "../../../scanner/checklists/answers.ts";
import { answersOf } from "../../../scanner/reports/checklists.ts";
import { builtIn, catalog } from "../../../scanner/catalog/catalog.ts";
import type { Report } from "../../../shared/report.ts";
import { importToStigManager, reportOf, type ImportedReview } from "../../support/checklist_reports.ts";
import { aReport, renderAs } from "../../support/report_builders.ts";

const folder = join(import.meta.dirname, "../../fixtures/checklists");
type Format = "cklb" | "ckl";
const files = ["stig_manager.cklb", "stig_manager.ckl", "by_hand.cklb", "by_hand.ckl"] as const;
const everyPair = files.flatMap((file) => (["cklb", "ckl"] as const).map((format) => [file, format] as const));

/** Rules that the API cannot decide, which a person has answered; two others are decided against the person. */
const manual = ["V-273187", "V-273188", "V-273191", "V-273193", "V-273194"];
const report = reportOf({ ...Object.fromEntries(manual.map((id) => [id, "MANUAL" as const])), "V-273195": "FAIL" });

function read(file: string): string {
  return readFileSync(join(folder, file), "utf8");
}

function merged(format: Format, content: string, of: Report = report, name = "old.cklb"): string {
  const checklist = parseChecklist(content, name);
  return renderAs(format, of, { checklist });
}

/** Answers of people that the report contradicts. */
function differencesOf(content: string, file: string) {
  const checklist = parseChecklist(content, file);
  return answersOf(report, { toolVersion: "1", revision: builtIn, checklist }).differences;
}

/** The reviews of Okta's STIG by V-id. */
function reviewsOf(format: Format, text: string): ReadonlyMap<string, ImportedReview> {
  const { checklists } = importToStigManager(format, text);
  const okta = checklists.find(({ benchmarkId }) => benchmarkId === "Okta_IDaaS_STIG");
  const vulnIds = new Map(catalog.map(({ rule }) => [rule.rule_id, rule.vuln_id]));
  return new Map(okta?.reviews.map((review) => [vulnIds.get(review.ruleId) ?? "", review]));
}

const formatOf = (file: string): Format => (file.endsWith(".cklb") ? "cklb" : "ckl");

describe.each(everyPair)("%s as %s", (file, format) => {
  const before = reviewsOf(formatOf(file), read(file));
  const text = merged(format, read(file), report, file);
  const after = reviewsOf(format, text);
  const { answers } = parseChecklist(read(file), file);

  test("has every rule of the STIG once", () => {
    expect([...after.keys()].toSorted()).toEqual(catalog.map(({ rule }) => rule.vuln_id).toSorted());
  });

  test("keeps what a person answered where the scan has no verdict, to the letter", () => {
    const kept = manual.filter((id) => (answers.get(id)?.status ?? "not_reviewed") !== "not_reviewed");
    expect(kept.length).toBeGreaterThan(0);
    for (const id of kept) expect([id, parseChecklist(text, file).answers.get(id)]).toEqual([id, answers.get(id)]);
  });

  test("writes the scan's verdict, and beside it what a person answered otherwise", () => {
    const { result, detail } = after.get("V-273195") ?? {};
    expect(result).toBe("fail");
    expect(detail).toContain(before.get("V-273195")?.detail);
    expect(detail).toMatch(/Status: Open\. A person answered Not (a Finding|Applicable)\./);
    expect(detail).toContain("Policy of V-273195: examined");
    expect(differencesOf(read(file), file).map(({ vulnId }) => vulnId)).toContain("V-273195");
  });

  test("keeps the asset", () => {
    const { name, fqdn, metadata } = importToStigManager(formatOf(file), read(file)).target;
    expect(importToStigManager(format, text).target).toMatchObject({ name, fqdn, metadata });
  });

  test("keeps the other STIGs", () => {
    const others = (imported: ReturnType<typeof importToStigManager>) =>
      imported.checklists
        .filter(({ benchmarkId }) => benchmarkId !== "Okta_IDaaS_STIG")
        .map(({ benchmarkId, revisionStr, reviews }) => ({ benchmarkId, revisionStr, reviews }));
    if (format === formatOf(file)) {
      const kept = others(importToStigManager(format, text));
      expect(kept).toEqual(others(importToStigManager(format, read(file))));
    }
  });

  test("is the same when the same scan is written into it again", () => {
    expect(merged(format, text, report, file)).toBe(text);
  });

  test("a checklist with a later scan that knows less gives a person's answer back", () => {
    const later = reportOf({ "V-273195": "MANUAL", "V-273186": "MANUAL" });
    const reviews = reviewsOf(format, merged(format, text, later, file));
    expect(reviews.get("V-273195")?.result).toBe(before.get("V-273195")?.result);
    expect(reviews.get("V-273195")?.detail).toContain(before.get("V-273195")?.detail);
    expect(reviews.get("V-273186")?.result).toBe("notchecked");
  });

  test("a checklist keeps its answers to rules that the scan does not have", () => {
    const part = aReport(report.checks.filter(({ vuln_id: vulnId }) => vulnId === "V-273186"));
    const later = parseChecklist(merged(format, read(file), part, file), file).answers;
    for (const [id, answer] of answers) if (id !== "V-273186") expect([id, later.get(id)]).toEqual([id, answer]);
  });
});

describe("a checklist that was worked in by hand", () => {
  test("a cklb keeps every field that nobody asked to change, known or not", () => {
    const before = JSON.parse(read("by_hand.cklb")) as Cklb;
    const after = JSON.parse(merged("cklb", read("by_hand.cklb"))) as Cklb;
    expect({ ...after, stigs: [] }).toEqual({ ...before, stigs: [] });
    expect(after.stigs[0]).toEqual(before.stigs[0]);
    expect(after.stigs[1]?.rules[0]).toEqual(before.stigs[1]?.rules[0]);
    expect(after.stigs[1]).toMatchObject({ x_reviewed_by: "team 3", size: catalog.length });
    // The mark that Evaluate-STIG gave the status is no longer true of the scan's verdict.
    expect(before.stigs[1]?.rules[1]).toHaveProperty("evaluate-stig");
    expect(after.stigs[1]?.rules[1]).not.toHaveProperty("evaluate-stig");
  });

  test("a ckl keeps every element of DISA's schema", () => {
    const withoutSpace = (text: string) => text.replaceAll(/>\s+</g, "><").replaceAll(/<(\w+)><\/\1>/g, "<$1/>");
    const [before, after] = [read("by_hand.ckl"), merged("ckl", read("by_hand.ckl"))].map(withoutSpace);
    const kept = before?.matchAll(
      /<(SID_DATA|ATTRIBUTE_DATA|HOST_(?!GUID)\w+|TECH_AREA|TARGET_\w+|ROLE|MARKING)>[^<]+<\/\1>/g,
    );
    const lost = [...(kept ?? [])].map(([whole]) => whole).filter((whole) => after?.includes(whole) !== true);
    expect(lost).toEqual([]);
  });

  test("a cklb from ckl, and a ckl from cklb, keep the severity that a person set and why", () => {
    const cklb = JSON.parse(merged("cklb", read("by_hand.ckl"))) as Cklb;
    const reason = "Consoles stand in a locked room <only>";
    expect(cklb.stigs[1]?.rules[0]?.["overrides"]).toEqual({ severity: { severity: "low", reason } });
    const ckl = merged("ckl", read("by_hand.cklb"));
    expect(ckl).toContain("<SEVERITY_OVERRIDE>low</SEVERITY_OVERRIDE>");
    expect(ckl).toContain(
      "<SEVERITY_JUSTIFICATION>Consoles stand in a locked room &lt;only&gt;</SEVERITY_JUSTIFICATION>",
    );
  });
});

test("what a person wrote around the scanner's words stays, and the words are replaced", () => {
  const first = merged("cklb", read("stig_manager.cklb"));
  const edited = JSON.parse(first) as Cklb;
  const rule = edited.stigs[0]?.rules.find((each) => each["group_id"] === "V-273195");
  if (rule === undefined) throw new Error("The rule is missing");
  rule["finding_details"] = `${String(rule["finding_details"])}\r\nAsked the vendor.`;
  rule["comments"] = `${String(rule["comments"])}\nSecond look`;
  const second = reviewsOf("cklb", merged("cklb", JSON.stringify(edited))).get("V-273195");
  expect(second?.detail.match(/automated result of/g)).toHaveLength(1);
  expect(second?.detail).toContain("Asked the vendor.");
  expect(second?.comment).toContain("Checked with the AD team");
  expect(second?.comment).toContain("Second look");
});

test("a person who takes the scan's answer back is a person who answered", () => {
  const first = JSON.parse(merged("cklb", read("stig_manager.cklb"))) as Cklb;
  for (const rule of first.stigs[0]?.rules ?? []) if (rule["group_id"] === "V-273186") rule["status"] = "open";
  expect(differencesOf(JSON.stringify(first), "old.cklb")).toContainEqual({
    vulnId: "V-273186",
    answered: "open",
    status: "not_a_finding",
  });
});

describe("parseChecklist", () => {
  const cklb = read("stig_manager.cklb");
  const ckl = read("stig_manager.ckl");
  test.each([
    [ckl.replace("<SID_DATA>Okta_IDaaS_STIG<", "<SID_DATA>Windows_11_STIG<"), /"Windows_11_STIG V1R2"/],
    [JSON.stringify(twice(cklb)), /V1R2 2 times: expected it once/],
    [JSON.stringify(withOlder(twice(cklb))), /V1R2 2 times: expected it once/],
    [ckl.replace(/<VULN>[^]*?<\/VULN>/, "$&$&"), /it has the rule "V-\d+" twice: expected it once/],
    ["status: open", /expected CKLB \(JSON\) or CKL \(XML\)/],
    [cklb.slice(0, 5000), /cut short/],
    ['{"stigs": []}', /target_data/],
    ['{"target_data": {"host_name": "x"}, "stigs": []}', /stigs: expected a STIG/],
    [cklb.replace('"status":"open"', '"status":"opened"'), /rules\.\d+\.status: expected one of/],
    [ckl.replace("<STATUS>Open<", "<STATUS>open<"), /STATUS of V-\d+: expected one of/],
    [ckl.slice(0, 5000), /line \d+: it is not well-formed/],
    [ckl.replace("</ASSET>", "</ASSETS>"), /line \d+: it is not well-formed/],
    [`<!DOCTYPE a [<!ENTITY b "c">]>${ckl.slice(ckl.indexOf("<CHECK"))}`, /without a document type/],
    ["<TestResult/>", /expected the element CHECKLIST, found TestResult/],
    ["<CHECKLIST><ASSET/><STIGS/></CHECKLIST>", /expected the element iSTIG/],
    [`${"<a>".repeat(60)}${"</a>".repeat(60)}`, /nested tags/],
    [`{"a":${"[".repeat(100_000)}`, /cut short/],
  ])("refuses text %# in one line", (content, message) => {
    const parse = () => parseChecklist(content, "old.ckl");
    expect(parse).toThrow(message);
    expect(parse).toThrow(/^[^\n]+$/);
  });
});

test("a thousand STIGs beside a long text are read at once", () => {
  const stigs = "<iSTIG></iSTIG>".repeat(1000);
  const content = `<CHECKLIST><ASSET/><STIGS>${stigs}</STIGS><NOTE>${"x".repeat(2_000_000)}</NOTE></CHECKLIST>`;
  expect(() => parseChecklist(content, "old.ckl")).toThrow(/and 995 more: expected a checklist/);
});

test("a mebibyte of beginnings of a result is no result", () => {
  const text = "--- scanstream x\nStatus: O".repeat(1_048_576 / 26);
  expect(splitDetails(text)).toEqual({ text, result: null });
});

interface Cklb {
  readonly stigs: readonly { readonly rules: readonly Record<string, unknown>[] }[];
}

function twice(text: string): Cklb {
  const checklist = JSON.parse(text) as Cklb;
  return { ...checklist, stigs: [...checklist.stigs, ...checklist.stigs] };
}

function withOlder(checklist: Cklb): Cklb {
  const older = checklist.stigs.slice(0, 1).map((stig) => ({ ...stig, release_info: "Release: 1" }));
  return { ...checklist, stigs: [...checklist.stigs, ...older] };
}

test.each(["cklb", "ckl"] as const)(
  "answers of a checklist stay in the %s of a stored report, until others take their place",
  (format) => {
    const open = (file: string) => parseChecklist(read(file), file);
    const [first, next] = [open("by_hand.cklb"), open("stig_manager.cklb")];
    const stored = aReport(withChecklistAnswers(report.checks, first));
    const resultsOf = (text: string) =>
      Object.fromEntries([...reviewsOf(format, text)].map(([id, { result }]) => [id, result]));
    expect(resultsOf(renderAs(format, stored))).toEqual(resultsOf(renderAs(format, stored, { checklist: first })));
    const again = withChecklistAnswers(stored.checks, next);
    for (const { attestation, vuln_id: id } of again) {
      const answer = next.answers.get(id)?.status ?? "not_reviewed";
      if (attestation !== null && answer !== "not_reviewed") expect(attestation.by).toBe("stig_manager.cklb");
    }
  },
);

test("an attestation of the decisions is not answered again, and words alone answer nothing", () => {
  const words = { status: "not_reviewed", details: "Ask Ben", comments: "" } as const;
  const answers = new Map<string, Answer>([
    ["V-273187", { ...words, status: "open" }],
    ["V-273188", words],
  ]);
  const checks = reportOf({ "V-273187": "MANUAL", "V-273188": "MANUAL" }).checks.map((check) => {
    const attestation = { status: "PASS", reason: "seen", by: "Ada", expires: null } as const;
    if (check.vuln_id === "V-273187") return { ...check, attestation };
    return check.vuln_id === "V-273188" ? { ...check, reason: "not_applicable" as const } : check;
  });
  const checklist = { ...parseChecklist(read("by_hand.cklb"), "old.cklb"), answers };
  const answered = withChecklistAnswers(checks, checklist);
  expect(answered.map(({ attestation }) => attestation?.status)).toEqual(checks.map((one) => one.attestation?.status));
  const merged = answersOf(aReport(answered), { toolVersion: "1", revision: builtIn, checklist }).answers;
  expect(merged.get("V-273188")).toMatchObject({
    status: "not_applicable",
    details: expect.stringMatching(/^Ask Ben\n/),
  });
});
