import { parse } from "valibot";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CheckContext } from "../../../scanner/checks/check.ts";
import type { FindingNote } from "../../../shared/schemas/finding_notes.ts";
import type { TestGateway } from "../../support/test_gateway.ts";

/** A note that a developer adds tomorrow: everything else is loaded after it, and only this description knows it. */
const added: FindingNote = { description: "An example", since: "1.3", label: "Example", isInReports: true };
const text = "seen on a Tuesday";

let gateway: TestGateway;

beforeAll(async () => {
  vi.resetModules();
  const { findingNotes } = await import("../../../shared/schemas/finding_notes.ts");
  Object.assign(findingNotes, { example_note: added });
  const { startTestGateway } = await import("../../support/test_gateway.ts");
  const { openTestPglite } = await import("../../support/pglite.ts");
  gateway = await startTestGateway({}, { database: await openTestPglite() });
});
afterAll(async () => {
  await gateway.stop();
  // The files after this one load modules that know nothing of the note.
  vi.resetModules();
});

/** The result of a check that sets the new note. */
async function evaluated() {
  const { evaluateCheck } = await import("../../../scanner/evaluate.ts");
  const { catalog } = await import("../../../scanner/catalog/catalog.ts");
  const [check] = catalog;
  if (check === undefined) throw new TypeError("The catalog has no check");
  const notes: object = { example_note: text };
  const draft = { status: "FAIL", resource: null, expected: "a", actual: "b", notes } as const;
  const context: CheckContext = { engine: "identity", evaluatedAt: "2026-11-22T09:30:00.000Z" };
  return evaluateCheck(
    { ...check, artifacts: [], evaluate: () => [draft] },
    {},
    { ...context, orgUrl: "https://acme.okta.com", digest: (value) => `digest of ${value.length}` },
  );
}

test("a note that is only described is in the event, in the database, in the REST answer and on the page", async () => {
  const { toFindingCreated } = await import("../../../scanner/streaming/finding_created.ts");
  const { findingEvents } = await import("../../support/published.ts");
  const { findingSchema } = await import("../../../gateway/web/model/finding.ts");
  const { createScan } = await import("../../support/test_gateway.ts");
  const { labelledNotes } = await import("../../../shared/schemas/finding_notes.ts");
  const scan = await createScan(gateway, gateway.acme, {});
  const result = await evaluated();
  const findings = result.findings.map((finding) => toFindingCreated(scan.id, result, finding));
  expect(findings).toMatchObject([{ example_note: text }]);

  const as = `Api-Key ${gateway.acme.apiKey}`;
  const path = `/api/v1/scans/${scan.id}/findings`;
  const json = findingEvents(scan.id, findings);
  expect((await gateway.request(`/api/v1/channels/${scan.channel}/events`, { json, as })).status).toBe(202);
  const { items } = (await (await gateway.request(path, { as })).json()) as { readonly items: readonly unknown[] };
  expect(items).toMatchObject([{ example_note: text, to_pass: null }]);
  expect(labelledNotes(parse(findingSchema, items[0]) as object)).toMatchObject([{ label: "Example", text }]);
});

test("it is in the reports, and in their schema", async () => {
  const { aReport, renderAs } = await import("../../support/report_builders.ts");
  const { describeReport } = await import("../../../tools/schemas.ts");
  const report = aReport([await evaluated()]);
  for (const format of ["html", "markdown", "table", "cklb"]) {
    expect(renderAs(format, report), format).toContain(`Example: ${text}`);
  }
  expect(renderAs("json", report)).toContain(`"example_note": "${text}"`);
  const [header = "", row = ""] = renderAs("csv", report).split("\r\n");
  expect(header).toMatch(/,example_note,fingerprint$/);
  expect(row.split(",").at(-2)).toBe(text);
  expect(JSON.stringify(describeReport())).toContain(
    `"example_note":{"type":"string","description":"An example (since 1.3)"}`,
  );
});

test("openapi.json describes it", async () => {
  const document = await (await gateway.request("/openapi.json")).text();
  expect(document).toContain(`"example_note":`);
  expect(document).toContain(`"An example; null: not known"`);
});
