import { randomUUID } from "node:crypto";
import { parse, strictObject } from "valibot";
import { describe, expect, test } from "vitest";
import { storedFindingSchema, type StoredFinding } from "../../../../shared/schemas/finding.ts";
import { scanSchema, type Scan } from "../../../../shared/schemas/scan.ts";
import { buildFinding } from "../../../support/producers.ts";
import { createScan, problemOf, openTestGateway } from "../../../support/test_gateway.ts";
import { findingEvents } from "../../../support/published.ts";

const gateway = await openTestGateway();
const key = `Api-Key ${gateway.acme.apiKey}`;
const user = `Bearer ${gateway.acme.token}`;

const patch = (scan: Scan, json: unknown) => gateway.send("PATCH", `/scans/${scan.id}`, json);
const read = (scan: Scan) => gateway.read<Scan>(`/scans/${scan.id}`);
const publish = (scan: Scan, json: object) => gateway.send("POST", `/channels/${scan.channel}/events`, json);
const newScan = (body: unknown = {}) => createScan(gateway, gateway.acme, body);
const listPage = (path: string) => gateway.read<Page>(path);

interface Page {
  readonly items: readonly StoredFinding[];
  readonly next_cursor: string | null;
}

test("POST registers a scan: 201, with every field of the resource", async () => {
  const body = { org_url: "https://acme.okta.com", client_id: "0oa1", benchmark: null, checks_total: 29 };
  const response = await gateway.send("POST", "/scans", body, user);
  expect(response.status).toBe(201);
  const scan = (await response.json()) as Scan;
  expect(parse(strictObject(scanSchema.entries), scan)).toMatchObject({ ...body, status: "pending" });
  expect(response.headers.get("location")).toBe(`/api/v1/scans/${scan.id}`);
  expect(await read(scan)).toEqual(scan);
});

test("a cursor that is not this list's is 400", async () => {
  const scan = await newScan();
  await publish(scan, findingEvents(scan.id, [buildFinding({ fingerprint: "a" }), buildFinding({ fingerprint: "b" })]));
  const findingsCursor = (await listPage(`/scans/${scan.id}/findings?limit=1`)).next_cursor ?? "";
  const scansCursor = (await listPage("/scans?limit=1")).next_cursor ?? "";
  const other = await newScan();
  const ofOther = await gateway.request(`/api/v1/scans/${other.id}/findings?cursor=${findingsCursor}`, { as: key });
  expect(ofOther.status).toBe(400);
  for (const cursor of [findingsCursor, "x".repeat(2049), `${scansCursor}x`, btoa('["scans",1,"x"]')]) {
    const problem = await problemOf(await gateway.request(`/api/v1/scans?cursor=${cursor}`, { as: key }));
    expect(problem).toMatchObject({ status: 400, code: "malformed" });
  }
  expect((await gateway.request(`/api/v1/scans?cursor=${scansCursor}`, { as: key })).status).toBe(200);
  expect((await gateway.request(`/api/v1/scans/${scan.id}/findings?cursor=${scansCursor}`, { as: key })).status).toBe(
    400,
  );
});

describe("PATCH /scans/{id}", () => {
  test.each([
    [{ status: "expired" }, "/status"],
    [{ checks_done: -1 }, "/checks_done"],
    [{ checks_done: 11 }, "/checks_done"],
    [{ cancel_requested: true }, "/cancel_requested"],
  ])("refuses %j and changes nothing", async (body, pointer) => {
    const scan = await newScan({ checks_total: 10 });
    const problem = await problemOf(await patch(scan, body));
    expect(problem).toMatchObject({ status: 422, code: "invalid" });
    expect(problem.errors?.[0]?.pointer).toBe(pointer);
    expect(await read(scan)).toEqual(scan);
  });

  test.each([
    [{ checks_done: 5, checks_total: 0, pass: 5 }, 200],
    [{ checks_done: 5, pass: 2, fail: 2, manual: 1 }, 200],
    [{ checks_done: 5, pass: 2, fail: 2, manual: 2 }, 422],
    [{ checks_done: 5, pass: 2, fail: 1, manual: 1, not_applicable: 1 }, 200],
    [{ checks_done: 5, pass: 2, fail: 1, manual: 1, not_applicable: 2 }, 422],
    [{ pass: 4 }, 422],
    [{ status: "completed", fail: 3, manual: 1 }, 422],
    [{ checks_done: 2_147_483_647, checks_total: 0, pass: 2_147_483_647, fail: 2_147_483_647 }, 422],
  ])("impossible counts are refused, with 3 checks done stored: %j is %i", async (body, status) => {
    const scan = await newScan();
    await patch(scan, { checks_done: 3 });
    const response = await patch(scan, body);
    expect(response.status).toBe(status);
    if (status === 422) expect(await problemOf(response)).toMatchObject({ code: "invalid" });
  });
});

test("one of many concurrent PATCHes ends the scan, and its end is published once", async () => {
  const scan = await newScan();
  const published: string[] = [];
  const listening = new AbortController();
  const handlers = { onMessage: (message: string) => void published.push(message), onLost() {} };
  await gateway.gateway.parts.dependencies.broker.subscribe(scan.channel, handlers, listening.signal);
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async () => (await patch(scan, { status: "completed" })).status),
  );
  listening.abort();
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(5);
  expect(published.map((message) => (JSON.parse(message) as { type: string }).type)).toEqual(["scan.end"]);
});

describe("findings", () => {
  const store = (scan: Scan, findings: readonly object[]) => publish(scan, findingEvents(scan.id, findings));

  test("findings are stored once for each fingerprint; the last one counts", async () => {
    const scan = await newScan();
    const first = [buildFinding({ fingerprint: "a" }), buildFinding({ fingerprint: "b" })];
    expect(await (await store(scan, first)).json()).toEqual({ stored: 2, live: true });
    const again = [
      buildFinding({ fingerprint: "b", status: "PASS" }),
      buildFinding({ fingerprint: "c" }),
      buildFinding({ fingerprint: "c", detail: "last" }),
    ];
    expect((await store(scan, again)).status).toBe(202);
    const { items } = await listPage(`/scans/${scan.id}/findings`);
    expect(items.map(({ fingerprint, status }) => [fingerprint, status])).toEqual([
      ["a", "FAIL"],
      ["b", "PASS"],
      ["c", "FAIL"],
    ]);
    expect(items[2]).toMatchObject({ detail: "last" });
  });

  test("findings come back with every field and every character", async () => {
    const scan = await newScan();
    const given = {
      ...buildFinding({ detail: `"quoted" \\ \n\r\t \u2028 💣 ${"x".repeat(60_000)}` }),
      automated: "PASS",
      cause: "9b23c2a6313d",
      to_pass: 'In rule "A": set b',
      evaluation: "first\n→ second",
      read_from: "GET /api/v1/zones at 2026-11-22T14:03:09.871Z",
      rests_on: '"AC policy, v3" (approved by Jane Roe on 2026-11-01)',
      advisory: true,
      waiver_reason: "CHG-1",
      waiver_by: "J. Doe",
      waiver_expires: "2027-01-31",
      attestation_status: "FAIL",
      attestation_reason: "a shared account",
      attestation_by: "okta.cklb",
      attestation_expires: "2027-01-31T12:00:00+02:00",
      resource_name: "Ünï'; drop table scans; --",
    };
    await store(scan, [given]);
    const { items } = await listPage(`/scans/${scan.id}/findings`);
    expect(items).toEqual([{ ...given, created_at: expect.any(String) }]);
    expect(Object.keys(items[0] ?? {})).toEqual(Object.keys(storedFindingSchema.entries));
  });

  /** As long as a fingerprint may be, in what takes most room in JSON, in UTF-8, and in both. */
  test.each([
    ["control characters", "\u0001".repeat(198)],
    ["characters of four bytes", "\u{1f600}".repeat(99)],
  ])("large ones come in pages of 256 Ki characters, each once and in order: %s", async (_what, longest) => {
    const scan = await newScan();
    const names = Array.from({ length: 45 }, (_, n) => `${longest}${String(n).padStart(2, "0")}`);
    const large = names.map((fingerprint) => buildFinding({ fingerprint, detail: "é".repeat(20_000) }));
    for (const start of [0, 15, 30]) await store(scan, large.slice(start, start + 15));
    const pages: StoredFinding[][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Page = await listPage(
        `/scans/${scan.id}/findings?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      pages.push([...page.items]);
      cursor = page.next_cursor;
    }
    expect(Math.max(...pages.map((items) => JSON.stringify(items).length))).toBeLessThan(262_144 + 100);
    expect(pages.length).toBeLessThan(6);
    expect(pages.flat().map(({ fingerprint }) => fingerprint)).toEqual(names);
  });

  test.each([
    [{ fingerprint: "" }, "/events/1/data/fingerprint"],
    [{ check: undefined }, "/events/1/data/check"],
    [{ status: "pass" }, "/events/1/data/status"],
    [{ detail: "a\0" }, "/events/1/data/detail"],
    [{ scan_id: randomUUID() }, "/events/1/data/scan_id"],
  ])("refuses %j, and stores nothing of the batch", async (change, pointer) => {
    const scan = await newScan();
    const problem = await problemOf(
      await store(scan, [buildFinding({ fingerprint: "good" }), { ...buildFinding(), ...change }]),
    );
    expect(problem).toMatchObject({ status: 422, code: "invalid", errors: [{ pointer }] });
    expect((await listPage(`/scans/${scan.id}/findings`)).items).toEqual([]);
  });
});
