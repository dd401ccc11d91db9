import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ManualReason } from "../../shared/report.ts";
import { filterFindings, noFilter } from "../../gateway/web/model/findings_filter.ts";
import { indexDecisions } from "../../gateway/web/model/decisions/decision_index.ts";
import { causesOfScan, withCauses } from "../../gateway/web/model/scan_causes.ts";
import { createScanModel, mergeScan } from "../../gateway/web/model/scan_model.ts";
import { parseFinding, parsePage, parseScan, type Scan } from "../../gateway/web/scan_wire.ts";
import { toAuthorization } from "../../gateway/web/model/session.ts";
import { buildFinding } from "../support/scan_producer.ts";

// Written into the page by its build.
beforeAll(() => {
  const text = { title: "Sessions end after 15 minutes", stigId: "OKTA-APP-000020", scopes: [], fix: "" };
  const rule = { ...text, vulnId: "V-273186", severity: "medium", controls: ["AC-11 a", "IA-2 (1)"] };
  vi.stubGlobal("CHECK_CATALOG", { signon_idle: rule });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

test("the model merges events and state by fingerprint, whichever comes first", () => {
  const stored = parseFinding(buildFinding({ fingerprint: "a", actual: "120 minutes" }));
  const event = {
    scan_id: "s",
    check: stored.check,
    status: "FAIL",
    severity: "medium",
    resource_name: "R",
    detail: "d",
    fingerprint: "a",
  };
  for (const steps of [
    ["event", "state"],
    ["state", "event"],
  ] as const) {
    const model = createScanModel();
    for (const step of steps) {
      if (step === "event") model.applyEvent("finding.created", event);
      else model.mergeFindings([stored]);
    }
    expect([...model.findings.keys()]).toEqual(["a"]);
    expect(model.findings.get("a")?.actual).toBe("120 minutes");
    expect(model.isIncomplete).toBe(false);
  }
});

test("what a monitor sees failing has the causes of the last scan, where that failed for it, too", () => {
  const found = (fingerprint: string, status: "PASS" | "FAIL", order: number) => ({
    ...parseFinding(buildFinding({ fingerprint, check: `check ${fingerprint}`, status })),
    order,
  });
  const scanned = (fingerprint: string, status: "PASS" | "FAIL") =>
    parseFinding(
      buildFinding({ fingerprint, status, cause: "0123456789ab", to_pass: `In rule "A": set ${fingerprint}` }),
    );
  const now = withCauses(
    [found("a", "FAIL", 1), found("b", "FAIL", 2), found("c", "FAIL", 3), found("d", "PASS", 4)],
    [scanned("a", "FAIL"), scanned("b", "FAIL"), scanned("c", "PASS"), scanned("d", "FAIL")],
  );
  expect(causesOfScan(now, indexDecisions([], { orgUrl: null, nowMs: 0 }))).toEqual({
    headline: "1 change closes all 2 rules that can be closed by a change (of 3 that fail)",
    causes: [{ id: "0123456789ab", change: 'In rule "A": set a; set b', closes: "closes 2 rules now" }],
  });
});

test("isIncomplete while a finding came as an event only", () => {
  const model = createScanModel();
  const { expected: _expected, actual: _actual, ...event } = buildFinding({ fingerprint: "a" });
  model.applyEvent("finding.created", event);
  expect(model.isIncomplete).toBe(true);
  model.mergeFindings([parseFinding(buildFinding({ fingerprint: "a" }))]);
  expect(model.isIncomplete).toBe(false);
});

test("check status is the worst finding status, also when a finding changes", () => {
  const model = createScanModel();
  const merge = (fingerprint: string, status: "PASS" | "FAIL" | "MANUAL", reason: ManualReason | null = null) =>
    model.mergeFindings([parseFinding(buildFinding({ check: "c", fingerprint, status, reason }))]);
  merge("a", "PASS");
  expect(model.checks.get("c")?.state).toBe("pass");
  merge("b", "MANUAL", "not_applicable");
  expect(model.checks.get("c")?.state).toBe("not_applicable");
  merge("b", "MANUAL");
  expect(model.checks.get("c")?.state).toBe("manual");
  merge("c", "FAIL");
  expect(model.checks.get("c")).toMatchObject({ state: "fail", findingCount: 3 });
  merge("c", "PASS");
  expect(model.checks.get("c")).toMatchObject({ state: "manual", findingCount: 3 });
});

test("a check without findings has the result of its progress event", () => {
  const model = createScanModel();
  model.applyEvent("scan.progress", { scan_id: "s", checks_done: 1, checks_total: 2, check: "c", status: "PASS" });
  expect(model.checks.get("c")).toMatchObject({ state: "pass", findingCount: 0 });
  model.applyEvent("scan.progress", { check: "d", status: "MANUAL", reason: "not_applicable" });
  expect(model.checks.get("d")).toMatchObject({ state: "not_applicable" });
});

test("events move the scan forward and its end is final", () => {
  const model = createScanModel();
  model.setScan(buildScan({ status: "pending", checksTotal: 2 }));
  model.applyEvent("scan.start", { scan_id: "s", checks_total: 3 });
  expect(model.scan).toMatchObject({ status: "running", checksTotal: 3 });
  model.applyEvent("scan.progress", { scan_id: "s", checks_done: 2, checks_total: 3, check: "c", status: "PASS" });
  expect(model.scan?.checksDone).toBe(2);
  model.applyEvent("scan.end", { scan_id: "s", status: "cancelled", pass: 1, fail: 0, manual: 0, not_applicable: 1 });
  expect(model.scan).toMatchObject({ status: "cancelled", pass: 1, manual: 0, notApplicable: 1 });
  model.applyEvent("scan.progress", { scan_id: "s", checks_done: 3, checks_total: 3, check: "d", status: "PASS" });
  model.setScan(buildScan({ status: "running" }));
  expect(model.scan).toMatchObject({ status: "cancelled", checksDone: 2 });
});

test("mergeScan never goes back in status or counts", () => {
  const ahead = buildScan({ checksDone: 5, pass: 3, fail: 2, cancelRequested: true });
  const behind = buildScan({ status: "pending", checksDone: 4, pass: 3, fail: 1 });
  expect(mergeScan(ahead, behind)).toMatchObject({ status: "running", checksDone: 5, fail: 2, cancelRequested: true });
  expect(mergeScan(behind, ahead)).toMatchObject({ status: "running", checksDone: 5, fail: 2 });
  expect(mergeScan(ahead, buildScan({ status: "failed", checksDone: 4 }))).toMatchObject({
    status: "failed",
    checksDone: 4,
  });
});

test("keeps at most 50 errors of a scan", () => {
  const model = createScanModel();
  for (let count = 0; count < 60; count += 1) model.applyEvent("scan.error", { code: "x", detail: "y" });
  expect(model.problems).toHaveLength(50);
});

test("filterFindings counts what each choice would show, given the others", () => {
  const model = createScanModel();
  model.mergeFindings(
    [
      buildFinding({ fingerprint: "1", status: "FAIL", severity: "high" }),
      buildFinding({ fingerprint: "2", status: "FAIL", severity: "low" }),
      buildFinding({ fingerprint: "3", status: "PASS", severity: "high" }),
      buildFinding({ fingerprint: "4", status: "MANUAL", reason: "not_applicable", severity: "high" }),
    ].map(parseFinding),
  );
  const filtered = filterFindings(model.findings.values(), { ...noFilter, states: new Set(["fail"]) });
  expect(filtered.shown.map(({ fingerprint }) => fingerprint)).toEqual(["1", "2"]);
  expect(filtered.stateCounts).toEqual({ fail: 2, manual: 0, pass: 1, not_applicable: 1 });
  expect(filtered.severityCounts).toEqual({ high: 1, medium: 0, low: 1 });
});

test("filterFindings finds every word of the text, in any field and any case", () => {
  const model = createScanModel();
  model.mergeFindings([
    parseFinding(
      buildFinding({ resource_name: "Größe", resource_id: "00p7", check: "signon_idle", actual: "Custom Factor" }),
    ),
  ]);
  const count = (text: string) => filterFindings(model.findings.values(), { ...noFilter, text }).shown.length;
  for (const text of [
    "",
    "  ",
    "GRÖSSE".toLowerCase().replace("sse", "ße"),
    "signon idle",
    "factor CUSTOM",
    "signon_idle",
    "sessions end",
    "okta-app-000020",
    "V-273186",
    "00P7",
    "ac-11",
  ]) {
    expect(count(text), text).toBe(1);
  }
  expect(count("custom factory")).toBe(0);
});

test("rejects an answer that is not the gateway's", () => {
  expect(() => parseScan({ id: "x", status: "unheard of" })).toThrow("not a scan");
  expect(() => parseFinding({ fingerprint: "x", status: "OK" })).toThrow("not a finding");
  expect(() => parsePage({ items: "none" }, parseScan)).toThrow("not a list");
  expect(() => parsePage(null, parseScan)).toThrow("not a list");
});

test("parseFinding reads an event's finding with defaults for what it leaves out", () => {
  const finding = parseFinding({ fingerprint: "x", status: "PASS", resource_name: "N", severity: "critical" });
  expect(finding).toMatchObject({ resource_name: "N", severity: "medium", check: "unknown", actual: null });
});

test("toAuthorization distinguishes tokens from keys and accepts whole header values", () => {
  expect(toAuthorization("scs_1_2")).toBe("Api-Key scs_1_2");
  expect(toAuthorization(" eyJ.eyJ.sig\n")).toBe("Bearer eyJ.eyJ.sig");
  expect(toAuthorization("bearer abc")).toBe("Bearer abc");
  expect(toAuthorization("API-KEY eyJ.eyJ.sig")).toBe("Api-Key eyJ.eyJ.sig");
  for (const text of ["", "   ", "two words", "kéy", "a\nb"]) expect(() => toAuthorization(text), text).toThrow();
});

function buildScan(change: Partial<Scan> = {}): Scan {
  return {
    id: "s",
    orgUrl: null,
    clientId: null,
    benchmark: null,
    status: "running",
    checksTotal: 10,
    checksDone: 0,
    pass: 0,
    fail: 0,
    manual: 0,
    notApplicable: 0,
    cancelRequested: false,
    createdAtMs: null,
    startedAtMs: null,
    endedAtMs: null,
    ...change,
  };
}
