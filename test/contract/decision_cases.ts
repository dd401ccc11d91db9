import assert from "node:assert/strict";
import { call, createScan, gatewayCase, keyOf, openStream, refused, type GatewayCase } from "./harness.ts";
import { findingEvents } from "../support/published.ts";

type Decision = Readonly<Record<string, unknown>>;

/** Waivers and attestations: kept with their author, ended by whoever withdraws them or by what a scan found. */
export const decisionCases: readonly GatewayCase[] = [
  gatewayCase("keeps a decision with the caller as its author, once, and withdraws it", async (gateway) => {
    const check = `check_${crypto.randomUUID()}`;
    const waiver = { kind: "waiver", check, resource: "00p1", reason: "Moves in January", expires: "2099-01-31" };
    const as = `Bearer ${gateway.tenant.token}`;
    const stream = await openStream(gateway, "/api/v1/event-stream", as);
    const created = await call(gateway, "/api/v1/decisions", { as, json: { ...waiver, by: "somebody else" } });
    const decision = (await created.json()) as Decision;
    assert.deepEqual([created.status, decision["by"], decision["state"]], [201, gateway.tenant.sub, "active"]);
    await stream.until(`"decision_id":"${String(decision["id"])}"`);
    stream.leave();
    await refused(await call(gateway, "/api/v1/decisions", { as, json: waiver }), 409);
    await refused(await call(gateway, "/api/v1/decisions", { as, json: { ...waiver, expires: "2020-01-31" } }), 422);
    const path = `/api/v1/decisions/${String(decision["id"])}`;
    const stranger = `Api-Key ${gateway.strangerApiKey}`;
    await refused(await call(gateway, path, { method: "DELETE", as: stranger }), 404);
    assert.equal((await call(gateway, path, { method: "DELETE", as })).status, 204);
    const listed = await call(gateway, `/api/v1/decisions?check=${check}`, { as });
    const { items } = (await listed.json()) as { readonly items: readonly Decision[] };
    assert.deepEqual(
      items.map(({ id, state, ended_by: endedBy }) => [id, state, endedBy]),
      [[decision["id"], "withdrawn", gateway.tenant.sub]],
    );
  }),
  gatewayCase("ends an attestation that a later scan contradicts, when that scan completes", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const check = `check_${crypto.randomUUID()}`;
    const attestation = { kind: "attestation", check, status: "PASS", reason: "Looked at it", expires: "never" };
    assert.equal((await call(gateway, "/api/v1/decisions", { as, json: attestation })).status, 201);
    const scan = await createScan(gateway);
    const path = `/api/v1/scans/${scan.id}`;
    const json = findingEvents(scan.id, [{ fingerprint: "f1", check, status: "FAIL" }]);
    assert.equal((await call(gateway, `/api/v1/channels/${scan.channel}/events`, { as, json })).status, 202);
    assert.equal((await call(gateway, path, { method: "PATCH", as, json: { status: "completed" } })).status, 200);
    const listed = await call(gateway, `/api/v1/decisions?check=${check}`, { as });
    const { items } = (await listed.json()) as { readonly items: readonly Decision[] };
    assert.deepEqual(
      items.map(({ state, ended_scan_id: endedScanId }) => [state, endedScanId]),
      [["contradicted", scan.id]],
    );
  }),
];
