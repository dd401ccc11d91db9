import { beforeEach, describe, expect, test } from "vitest";
import type { AuditEvent } from "../../../../gateway/features/team/team_schemas.ts";
import type { Decision } from "../../../../shared/schemas/decision.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { member } from "../../../support/operator.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";

const check = "check_one";
const orgUrl = "https://acme.okta.com";
const waiver = { kind: "waiver", check, resource: "00p1", reason: "Moves in January", expires: "never" } as const;
const attestation = { kind: "attestation", check, status: "PASS", reason: "Looked at it", expires: "never" } as const;

const gateway = await openTestGateway();
const key = `Api-Key ${gateway.acme.apiKey}`;
const user = `Bearer ${gateway.acme.token}`;
const stranger = `Api-Key ${gateway.globex.apiKey}`;
const producer = createProducer(gateway.url, gateway.acme.apiKey);
beforeEach(() => gateway.owner("delete from decisions"));

const post = (json: object, as = key) => gateway.send("POST", "/decisions", json, as);
const withdraw = (id: string, as = key) => gateway.send("DELETE", `/decisions/${id}`, undefined, as);

async function decide(json: object, as = key): Promise<Decision> {
  const response = await post(json, as);
  expect(response.status, await response.clone().text()).toBe(201);
  return (await response.json()) as Decision;
}

async function list(query = "", as = key): Promise<readonly Decision[]> {
  const response = await gateway.request(`/api/v1/decisions${query}`, { as });
  expect(response.status).toBe(200);
  return ((await response.json()) as { items: Decision[] }).items;
}

async function completeScan(findings: readonly ReturnType<typeof buildFinding>[], body: object = { org_url: orgUrl }) {
  const scan = await producer.register(body);
  await scan.store(findings);
  return { id: scan.id, end: (status = "completed") => scan.end(status, { pass: 0, fail: 1, manual: 0 }) };
}

/** Actions on a decision with their actors, oldest first. */
async function auditOf(target: string) {
  const { items } = await gateway.read<{ readonly items: readonly AuditEvent[] }>(`/audit?target=${target}`);
  return items.map(({ action, actor }) => `${action} by ${actor.kind} ${actor.id}`).toReversed();
}

test.each([
  ["a waiver with a status", { ...waiver, status: "PASS" }, "/status"],
  ["an attestation of one resource", { ...attestation, resource: "00p1" }, "/resource"],
  ["no end", { ...waiver, expires: undefined }, "/expires"],
  ["an end of null, which nobody chose", { ...attestation, expires: null }, "/expires"],
  ["a day that is over", { ...waiver, expires: "2020-01-31" }, "/expires"],
  ["a time beyond what can be stored", { ...waiver, expires: "9999-12-31T23:59:59-12:00" }, "/expires"],
])("a decision with %s is 422, which names the field", async (_, body, pointer) => {
  const response = await post(body);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ code: "invalid", errors: [{ pointer }] });
  expect(await list()).toEqual([]);
});

test.each(["V-273186", "sv-273186", "SV-273186r1098825_rule", "OKTA-APP-000020"])(
  "%s is stored, found and shown by the name of its check",
  async (name) => {
    const { check: shown, id } = await decide({ ...waiver, check: name, resource: name });
    expect(shown).toBe("signon_global_session_idle_timeout_15min");
    expect((await list(`?check=${name}`)).map((decision) => decision.id)).toContain(id);
  },
);

test("an id of DISA's that the STIG does not have is refused with the nearest", async () => {
  const refused = await post({ ...waiver, check: "V-27318" });
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("did you mean")]);
  expect((await gateway.request("/api/v1/decisions?check=V-27318", { as: key })).status).toBe(400);
});

test("decisions are filtered, and paged from the newest", async () => {
  const { id } = await decide(waiver);
  await withdraw(id);
  const kept = await decide({ ...waiver, org_url: orgUrl });
  const other = await decide({ ...attestation, check: "check_two", org_url: "https://globex.okta.com" });
  const everywhere = await decide(attestation);
  const ids = async (query: string) => (await list(query)).map((decision) => decision.id);
  expect(await ids("")).toEqual([everywhere.id, other.id, kept.id, id]);
  expect(await ids("?active=true")).toEqual([everywhere.id, other.id, kept.id]);
  expect(await ids("?active=false")).toEqual([id]);
  expect(await ids("?kind=attestation")).toEqual([everywhere.id, other.id]);
  expect(await ids("?check=check_two")).toEqual([other.id]);
  expect(await ids(`?active=true&org_url=${encodeURIComponent(orgUrl)}`)).toEqual([everywhere.id, kept.id]);
  const first = (await (await gateway.request("/api/v1/decisions?limit=3", { as: key })).json()) as {
    next_cursor: string;
  };
  expect(await ids(`?limit=3&cursor=${first.next_cursor}`)).toEqual([id]);
});

test("a decision that has expired stays expired after its withdrawal", async () => {
  const { id } = await decide({ ...waiver, expires: "2099-01-31" });
  await gateway.owner("update decisions set expires_at = now() - interval '1 second'");
  expect((await withdraw(id)).status).toBe(204);
  expect((await list())[0]).toMatchObject({ state: "expired", ended_by: null });
});

test("a decision is stored once, also when it is sent again; it ends once, alone or by the one that replaces it, and stays with who did that", async () => {
  const { id } = await decide(waiver);
  expect((await decide(waiver)).id).toBe(id);
  expect((await post({ ...waiver, reason: "Other" })).status).toBe(409);
  const everywhere = { ...waiver, resource: null, replaces: id };
  expect((await post({ ...everywhere, check: "check_two" })).status).toBe(404);
  const renewed = await decide(everywhere, user);
  expect((await decide(everywhere, user)).id).toBe(renewed.id);
  expect((await post({ ...everywhere, resource: "00p2" })).status).toBe(409);
  expect((await list("?active=true")).map((one) => one.id)).toEqual([renewed.id]);
  expect((await withdraw(renewed.id)).status).toBe(204);
  const ended = (await list()).find((one) => one.id === id);
  expect(ended).toMatchObject({ id, state: "withdrawn", ended_by: member, ended_at: expect.any(String) });
  expect((await withdraw(id)).status).toBe(204);
  expect(await list()).toContainEqual(ended);
  await decide(waiver);
  expect(await auditOf(id)).toEqual([
    `decision.created by api_key ${gateway.acme.apiKeyId}`,
    `decision.ended by user ${member}`,
  ]);
});

describe("a scan that contradicts an attestation", () => {
  const failing = () => buildFinding({ check, status: "FAIL" });

  test("ends it when it completes, once, as the gateway, and it does not come back", async () => {
    const { id } = await decide({ ...attestation, org_url: orgUrl });
    const scan = await completeScan([failing()]);
    expect((await list())[0]?.state).toBe("active");
    await scan.end();
    expect((await list())[0]).toMatchObject({ id, state: "contradicted", ended_scan_id: scan.id, ended_by: null });
    await (await completeScan([failing()])).end();
    expect((await list())[0]?.ended_scan_id).toBe(scan.id);
    expect(await list("?active=true")).toEqual([]);
    expect(await auditOf(id)).toEqual([
      `decision.created by api_key ${gateway.acme.apiKeyId}`,
      "decision.ended by gateway ",
    ]);
  });

  test.each([
    ["one of NOT_APPLICABLE", { ...attestation, status: "NOT_APPLICABLE" }, "contradicted"],
    ["one about every organization", attestation, "contradicted"],
    ["one of FAIL", { ...attestation, status: "FAIL" }, "active"],
    ["one of another organization", { ...attestation, org_url: "https://globex.okta.com" }, "active"],
    ["one of another check", { ...attestation, check: "check_two" }, "active"],
    ["a waiver", { ...waiver, resource: null }, "active"],
    ["one of the organization by another address", { ...attestation, org_url: orgUrl }, "contradicted"],
  ])("after a failing finding, $0 is $2", async (_, decision, state) => {
    await decide(decision);
    await (await completeScan([failing()], { org_url: "https://ACME.okta.com:443/admin" })).end();
    expect((await list())[0]?.state).toBe(state);
  });

  test("a scan that was registered before it ends none, and another tenant's neither", async () => {
    const scan = await completeScan([failing()]);
    await decide(attestation);
    await decide(attestation, stranger);
    await scan.end();
    await (await completeScan([failing()])).end();
    expect((await list())[0]?.state).toBe("contradicted");
    expect((await list("", stranger))[0]?.state).toBe("active");
  });
});
