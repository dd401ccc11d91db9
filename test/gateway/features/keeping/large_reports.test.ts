import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aCheckResult, aFinding, aReport } from "../../../support/report_builders.ts";
import { openNeon, startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { createScan } from "../../../support/test_gateway.ts";

const mebibyte = 1024 * 1024;

describe("a large report", () => {
  let gateway: KeptGateway;
  let id: string;

  beforeAll(async () => {
    gateway = await startKeptGateway(openNeon);
    ({ id } = await createScan(gateway, gateway.acme));
  });
  afterAll(() => gateway?.stop());

  const path = () => `/api/v1/scans/${id}/report`;
  const as = () => `Api-Key ${gateway.acme.apiKey}`;
  const put = (body: BodyInit) =>
    gateway.request(path(), { method: "PUT", body, as: as(), headers: { "content-type": "application/json" } });

  test("of more than 32 MiB is refused, also without a declared length", async () => {
    const report = aReport();
    const text = JSON.stringify({ ...report, scan: { ...report.scan, id } });
    expect((await put(`${text}${" ".repeat(32 * mebibyte)}`)).status).toBe(413);
    let mebibytes = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        mebibytes += 1;
        // It has an end, so that a gateway that reads all of it answers something else.
        if (mebibytes > 64) controller.close();
        else controller.enqueue(new Uint8Array(mebibyte).fill(32));
      },
    });
    const headers = { authorization: as(), "content-type": "application/json" };
    const init = { method: "PUT", body, duplex: "half", headers } as RequestInit;
    expect((await fetch(new URL(path(), gateway.url), init)).status).toBe(413);
  });

  test("of 30 MiB that hardly compress is stored in parts that every driver takes", async () => {
    const findings = Array.from({ length: 300 }, (_, at) =>
      aFinding({ fingerprint: `f${at}`, actual: randomBytes(76_800).toString("base64") }),
    );
    const report = aReport([aCheckResult({ findings })]);
    const text = JSON.stringify({ ...report, scan: { ...report.scan, id } });
    expect(text.length).toBeGreaterThan(29 * mebibyte);
    expect((await put(text)).status).toBe(201);
    expect((await (await gateway.request(path(), { as: as() })).text()) === text).toBe(true);
  });
});
