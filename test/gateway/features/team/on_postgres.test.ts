import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { AuditEvent } from "../../../../gateway/features/team/team_schemas.ts";
import { createKey } from "../../../contract/harness.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";

/** Each managing write leaves one event, by whom it was made. On PostgreSQL, as the application's role. */
const gateway = await openTestGateway();
const { acme, send } = gateway;
const { admin } = gateway.gateway;
const sub = "ada:admin@acme";
await gateway.addUser(acme.id, sub, "admin");
const asUser = async (user: string) => `Bearer ${await gateway.sign({ tenant_id: acme.id, sub: user })}`;
const asAda = await asUser(sub);

const trail = async () => (await gateway.read<{ readonly items: readonly AuditEvent[] }>("/audit?limit=200")).items;

async function byAda(method: string, path: string, json?: unknown): Promise<void> {
  const response = await send(method, path, json, asAda);
  expect(response.ok, `${method} ${path}: ${await response.clone().text()}`).toBe(true);
}

const operator = { kind: "operator", id: "", name: null };
const ada = { kind: "user", id: sub, name: null };
const key = { kind: "api_key", id: acme.apiKeyId, name: "test" };

const { id: keyId, as: asKey } = await createKey(gateway, asAda, { name: "ci", scopes: ["read"] });
const scanId = randomUUID();
const [monitorId, org_url] = [randomUUID(), "https://acme.okta.com"];
await byAda("POST", "/scans", {});
await send("PUT", `/scans/${scanId}`, {});
await send("PUT", `/monitors/${monitorId}`, { org_url, interval_seconds: 10 });
const organizations = await gateway.read<{ readonly items: readonly [{ readonly id: string }] }>("/organizations");
const orgId = organizations.items[0].id;
const bob = (role?: string) => ({ sub: "bob", ...(role !== undefined && { role }) });
const moved = (from: string, to: string) => ({ role: { from, to } });
const ofBob = (role: string) => ({ tenant: acme.id, ...bob(role) });

type Step = readonly [work: () => Promise<unknown>, actor: object, action?: string, target?: string, detail?: object];

/** In this order. Without an action nothing changes, and nothing is written. */
const steps: readonly Step[] = [
  [() => admin("user.create", ofBob("viewer")), operator, "member.created", "bob", { role: "viewer" }],
  [() => admin("user.create", ofBob("operator")), operator, "member.updated", "bob", moved("viewer", "operator")],
  [() => admin("user.remove", ofBob("operator")), operator, "member.deleted", "bob"],
  [() => byAda("POST", "/members", bob()), ada, "member.created", "bob", { role: "operator" }],
  [() => byAda("POST", "/members", bob("viewer")), ada, "member.updated", "bob", moved("operator", "viewer")],
  [() => byAda("POST", "/members", bob("viewer")), ada],
  [() => byAda("PATCH", "/members/bob", { role: "admin" }), ada, "member.updated", "bob"],
  [() => byAda("DELETE", "/members/bob"), ada, "member.deleted", "bob"],
  [() => send("DELETE", `/api-keys/${keyId}`), key, "api_key.revoked", keyId],
  [() => send("DELETE", `/api-keys/${keyId}`), key],
  [() => admin("api-key.revoke", { id: keyId }), operator],
  [() => byAda("PATCH", "/tenant", { name: "Acme Ltd." }), ada, "tenant.updated", acme.id],
  [() => byAda("POST", `/scans/${scanId}/cancel`), ada, "scan.cancel_requested", scanId],
  [() => byAda("DELETE", `/scans/${scanId}`), ada, "scan.deleted", scanId],
  [() => byAda("DELETE", `/monitors/${monitorId}`), ada, "monitor.deleted", monitorId],
  [() => byAda("DELETE", `/organizations/${orgId}`), ada, "organization.deleted", orgId, { org_url }],
];

test("each change of an operator, a member and a key leaves one event that names them, and no secret", async () => {
  const [made] = (await trail()).filter(({ target }) => target.id === keyId);
  expect(made).toMatchObject({ actor: ada, action: "api_key.created", target: { name: "ci" }, detail: { name: "ci" } });
  for (const [work, actor, action, id, detail = {}] of steps) {
    const before = await trail();
    await work();
    const after = await trail();
    const type = action?.split(".")[0];
    const written = action === undefined ? [] : [{ actor, action, target: { type, id }, detail }];
    expect(after.slice(0, after.length - before.length), String(work)).toMatchObject(written);
  }
  const text = JSON.stringify(await trail());
  for (const secret of [acme.apiKey, asKey.slice("Api-Key ".length)]) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/[0-9a-f]{64}/);
});

test("admins who remove and demote each other at once leave one", async () => {
  const subs = ["ann", "bob", "cyn", "dan"];
  await gateway.removeUser(acme.id, sub);
  for (let round = 0; round < 9; round += 1) {
    for (const each of subs) await gateway.addUser(acme.id, each, "admin");
    const change = [
      (as: string, other: string) => send("DELETE", `/members/${other}`, undefined, as),
      (as: string, other: string) => send("PATCH", `/members/${other}`, { role: "viewer" }, as),
      (as: string, other: string) => send("POST", "/members", { sub: other, role: "operator" }, as),
    ][round % 3];
    const requests = subs.flatMap((caller) =>
      subs.filter((other) => other !== caller).map(async (other) => change?.(await asUser(caller), other)),
    );
    for (const response of await Promise.all(requests)) expect([200, 204, 403, 404, 409]).toContain(response?.status);
    const { items } = await gateway.read<{ readonly items: readonly { readonly role: string }[] }>("/members");
    expect(items.some(({ role }) => role === "admin")).toBe(true);
  }
});
