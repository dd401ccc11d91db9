import { randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportFormats } from "../../../../scanner/reports/formats.ts";
import type { Report } from "../../../../shared/report.ts";
import { reportSchema } from "../../../../shared/schemas/report.ts";
import { aCheckResult, aFinding, aReport } from "../../../support/report_builders.ts";
import { keptDatabases, openNeon, startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { createScan, problemOf } from "../../../support/test_gateway.ts";

const mebibyte = 1024 * 1024;

describe("the report of a scan", () => {
  let gateway: KeptGateway;
  let key: string;
  /** A scan whose report is refused, however it is wrong. */
  let refusing: string;

  beforeAll(async () => {
    gateway = await startKeptGateway(openNeon);
    key = `Api-Key ${gateway.acme.apiKey}`;
    refusing = await newScan();
  });
  afterAll(() => gateway?.stop());

  const pathOf = (scanId: string) => `/api/v1/scans/${scanId}/report`;
  const put = (scanId: string, body: BodyInit, as = key) =>
    gateway.request(pathOf(scanId), { method: "PUT", body, as, headers: { "content-type": "application/json" } });
  const get = (scanId: string, headers = {}, as = key) => gateway.request(pathOf(scanId), { as, headers });
  const reportOf = (scanId: string, checks = [aCheckResult()]) => {
    const report = aReport(checks);
    return JSON.stringify({ ...report, scan: { ...report.scan, id: scanId } });
  };
  async function newScan() {
    const { id } = await createScan(gateway, gateway.acme);
    return id;
  }

  test("is given back byte for byte, with an ETag that saves the next answer", async () => {
    const id = await newScan();
    expect(await problemOf(await get(id))).toMatchObject({ status: 404, code: "not_found" });
    const text = reportOf(id);
    const stored = await put(id, text);
    expect(stored.status).toBe(201);
    expect(await stored.json()).toEqual({ scan_id: id, size_bytes: Buffer.byteLength(text) });
    const read = await get(id);
    expect(read.status).toBe(200);
    expect(read.headers.get("content-type")).toBe("application/json");
    expect(await read.text()).toBe(text);
    const etag = read.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(stored.headers.get("etag")).toBe(etag);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await get(id, { "if-none-match": known });
      expect(again.status, known).toBe(304);
      expect(await again.text()).toBe("");
    }
    expect((await get(id, { "if-none-match": '"x"' })).status).toBe(200);
  });

  test("needs no field that version 1.0 did not have", async () => {
    const id = await newScan();
    const { baseline: _baseline, ...report } = JSON.parse(reportOf(id, [aCheckResult()])) as Report;
    const checks = report.checks.map(({ automated: _automated, attestation: _attestation, ...check }) => ({
      ...check,
      findings: check.findings.map((finding) => {
        const { waiver: _waiver, automated: _own, advisory: _advisory, ...kept } = finding;
        return kept;
      }),
    }));
    const text = JSON.stringify({ ...report, checks });
    expect((await put(id, text)).status).toBe(201);
    expect(await (await get(id)).text()).toBe(text);
    const read = v.parse(reportSchema, JSON.parse(text));
    for (const format of reportFormats) {
      const rendered = format.render(read, { color: false, width: 120, toolVersion: "0" });
      expect(rendered.length, format.name).toBeGreaterThan(100);
    }
  });

  test("is stored once: the same body is 200, another is 409, also many at once and after the end of the scan", async () => {
    const id = await newScan();
    await gateway.request(`/api/v1/scans/${id}`, { method: "PATCH", as: key, json: { status: "completed" } });
    const text = reportOf(id);
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await put(id, text)).status));
    expect(new Set(statuses)).toEqual(new Set(statuses.includes(200) ? [200, 201] : [201]));
    expect((await put(id, text)).status).toBe(200);
    expect(await problemOf(await put(id, `${text} `))).toMatchObject({ status: 409, code: "conflict" });
    expect(await (await get(id)).text()).toBe(text);
    const rows = await gateway.owner(
      "select count(*)::int, min(part_count) from scan_report_parts join scan_reports using (scan_id) where scan_id = $1",
      id,
    );
    expect(rows, "no part of a report that is not kept").toEqual([[1, 1]]);
  });

  test("of two that are stored at once one is kept, whole", async () => {
    const id = await newScan();
    const texts = Array.from({ length: 4 }, (_, at) => reportOf(id, [aCheckResult({ title: `${at}` })]));
    const statuses = await Promise.all(texts.map(async (text) => (await put(id, text)).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
    expect(texts).toContain(await (await get(id)).text());
  });

  test("may have several parts", async () => {
    const id = await newScan();
    const findings = Array.from({ length: 20 }, (_, at) =>
      aFinding({ fingerprint: `f${at}`, actual: randomBytes(76_800).toString("base64") }),
    );
    const text = reportOf(id, [aCheckResult({ findings })]);
    expect((await put(id, text)).status).toBe(201);
    expect((await (await get(id)).text()) === text).toBe(true);
    const [[parts] = []] = await gateway.owner("select part_count from scan_reports where scan_id = $1", id);
    expect(parts).toBeGreaterThan(2);
  });

  test("is for keys that publish, and of the own tenant's scans", async () => {
    const id = await newScan();
    const text = reportOf(id);
    expect((await put(id, text, `Bearer ${gateway.acme.token}`)).status).toBe(403);
    expect((await put(id, text, `Api-Key ${gateway.globex.apiKey}`)).status).toBe(404);
    expect((await put(id, text)).status).toBe(201);
    expect((await get(id, {}, `Api-Key ${gateway.globex.apiKey}`)).status).toBe(404);
    expect((await get(id, {}, `Bearer ${gateway.acme.token}`)).status).toBe(200);
    const unknown = randomUUID();
    expect((await put(unknown, reportOf(unknown))).status).toBe(404);
    expect((await put("x", text)).status).toBe(404);
  });

  const valid = (id: string) => {
    const report = aReport();
    return { ...report, scan: { ...report.scan, id } };
  };
  const json = (change: (report: ReturnType<typeof valid>) => unknown) => JSON.stringify(change(valid(refusing)));
  const [check] = aReport().checks;
  const withFindings = (findings: readonly unknown[]) =>
    json((report) => ({ ...report, checks: [{ ...check, findings }] }));

  test.each<readonly [name: string, status: number, body: () => string]>([
    ["no body", 400, () => ""],
    ["no JSON", 400, () => "{"],
    ["JSON that was cut in a finding", 400, () => json((report) => report).slice(0, 900)],
    ["another schema", 422, () => json((report) => ({ ...report, schema: "scanstream.report/2" }))],
    [
      "the scan of another id",
      422,
      () => json((report) => ({ ...report, scan: { ...report.scan, id: randomUUID() } })),
    ],
    ["no checks", 422, () => json(({ checks: _checks, ...report }) => report)],
    ["a finding without a status", 422, () => withFindings([{ ...aFinding(), status: "OK" }])],
    ["a finding that is the number that stands for one", 422, () => withFindings([0])],
    ["findings beside such a number", 422, () => withFindings([aFinding(), 0])],
    ["findings that are an object", 422, () => json((report) => ({ ...report, checks: [{ ...check, findings: {} }] }))],
    [
      "two lists of checks, of which the second hides the first",
      422,
      () =>
        json((report) => report).replace(
          '"checks":',
          '"checks":[{"findings":[' + JSON.stringify(aFinding()) + ']}],"checks":',
        ),
    ],
    [
      "findings without a comma between them",
      400,
      () => withFindings([aFinding(), aFinding()]).replace('},{"status"', '}{"status"'),
    ],
    [
      "findings behind an escaped name that are none",
      422,
      () => withFindings([{ status: "OK" }]).replace('"findings"', '"find\\u0069ngs"'),
    ],
    ["a deep nest", 422, () => `${"[".repeat(5000)}${"]".repeat(5000)}`],
    ["too much beside the findings", 422, () => json((report) => ({ ...report, more: Array(4.5 * mebibyte).fill(0) }))],
    ["a finding of too many parts", 422, () => withFindings([{ ...aFinding(), more: Array(600_000).fill(0) }])],
    [
      "a wrong escape deep in a long text",
      400,
      () => withFindings([aFinding({ actual: "x".repeat(mebibyte) })]).replace('xx",', 'x\\x",'),
    ],
    [
      "a line break deep in a long text",
      400,
      () => withFindings([aFinding({ actual: "x".repeat(mebibyte) })]).replace('xx",', 'x\n",'),
    ],
  ])("%s is refused", async (_name, status, body) => {
    const response = await put(refusing, body());
    expect(response.status, await response.clone().text()).toBe(status);
    await problemOf(response);
    expect((await get(refusing)).status).toBe(404);
  });

  test("text that is no UTF-8 is refused", async () => {
    expect((await put(refusing, new Uint8Array([0x7b, 0xff, 0x7d]))).status).toBe(400);
  });

  test.each<readonly [name: string, change: (text: string) => string]>([
    ["written with blanks", (text) => JSON.stringify(JSON.parse(text), null, 2)],
    ["with more blanks than it has text", (text) => text.replace('"checks":', `"checks":${" ".repeat(mebibyte / 4)}`)],
    ["with an escaped name", (text) => text.replace('"findings"', '"find\\u0069ngs"')],
    [
      "with a long text beside its findings",
      (text) => text.replace('"title":"', `"title":"${"é\\u00e9\\n".repeat(mebibyte / 4)}`),
    ],
    [
      "with a long text in a finding",
      (text) => text.replace('"actual":"', `"actual":"${"😀\\n".repeat(mebibyte / 4)}`),
    ],
  ])("a right report %s is taken", async (_name, change) => {
    const id = await newScan();
    const text = change(JSON.stringify(valid(id)));
    const stored = await put(id, text);
    expect(stored.status, await stored.clone().text()).toBe(201);
    const read = await (await get(id)).text();
    expect(read === text).toBe(true);
    JSON.parse(read);
  });
});

test.each(keptDatabases)("a report is given back byte for byte over %s", async (_name, open) => {
  const gateway = await startKeptGateway(open);
  const { id } = await createScan(gateway, gateway.acme);
  const report = aReport([aCheckResult({ title: "é \\ 😀" })]);
  const text = `${JSON.stringify({ ...report, scan: { ...report.scan, id } })}  `;
  const request = { as: `Api-Key ${gateway.acme.apiKey}`, headers: { "content-type": "application/json" } };
  const stored = await gateway.request(`/api/v1/scans/${id}/report`, { ...request, method: "PUT", body: text });
  expect(stored.status).toBe(201);
  expect(await (await gateway.request(`/api/v1/scans/${id}/report`, request)).text()).toBe(text);
  await gateway.stop();
});
