import assert from "node:assert/strict";
import { roleSchema, scopeSchema, type Role, type Scope } from "../../shared/schemas/team.ts";
import { call, createKey, eventually, keyOf, type GatewayUnderTest } from "./harness.ts";
import type { TestTenant } from "../support/operator.ts";

/** A route that takes credentials, with what it asks of them. */
export interface ProtectedRoute {
  readonly method: string;
  readonly path: string;
  readonly access: string;
  /** Null: any principal of the tenant. */
  readonly permission: { readonly roles: readonly Role[]; readonly scopes: readonly Scope[] } | null;
}

export interface Caller {
  readonly name: string;
  /** Null: no credentials. */
  readonly as: string | null;
  /** The subject of a valid token, who need not be a member. */
  readonly sub?: string;
  /** Answer to them: a refusal, or anything else. */
  expected(route: ProtectedRoute): 401 | 403 | "allowed";
}

/** A tenant, and everybody who may knock at its door. */
export interface Cast {
  readonly tenant: TestTenant;
  readonly callers: readonly Caller[];
}

const casts = new WeakMap<GatewayUnderTest, Promise<Cast>>();

/** One for all cases of a gateway. */
export function castOf(gateway: GatewayUnderTest): Promise<Cast> {
  const cast = casts.get(gateway) ?? createCast(gateway);
  casts.set(gateway, cast);
  return cast;
}

/** Each scope alone, and every number of them. */
const scopeSets: readonly (readonly Scope[])[] = scopeSchema.options.reduce<readonly (readonly Scope[])[]>(
  (sets, scope) => [...sets, ...sets.map((set) => [...set, scope]), [scope]],
  [],
);

async function createCast(gateway: GatewayUnderTest): Promise<Cast> {
  const control = gateway.control;
  const tenant = await control.createTenant("Walk");
  const owner = keyOf(tenant);
  // A person, because no key makes members or keys.
  await control.addUser(tenant.id, "first@walk.test", "admin");
  const admin = `Bearer ${await control.sign({ tenant_id: tenant.id, sub: "first@walk.test" }, 3600)}`;

  async function addMember(sub: string, role: Role): Promise<void> {
    const response = await call(gateway, "/api/v1/members", { as: admin, json: { sub, role } });
    assert.equal(response.status, 201, await response.text());
  }
  const keyWith = (scopes: readonly Scope[], expiresAt: string | null = null) =>
    createKey(gateway, admin, { name: scopes.join(" "), scopes, expires_at: expiresAt });
  const signed = async (sub: string, lifetimeSeconds = 600) =>
    `Bearer ${await control.sign({ tenant_id: tenant.id, sub }, lifetimeSeconds)}`;
  const statusOf = async (as: string) => (await call(gateway, "/api/v1/session", { as })).status;

  const callers: Caller[] = [
    { name: "nobody", as: null, expected: notAuthenticated },
    { name: "a token that is invalid", as: "Bearer e30.e30.e30", expected: notAuthenticated },
    { name: "a key that is invalid", as: `Api-Key scs_00000000_${"0".repeat(64)}`, expected: notAuthenticated },
    { name: "a member whose token has expired", as: await signed(tenant.sub, -60), expected: notAuthenticated },
    { name: "a user who is no member", as: await signed("outsider"), sub: "outsider", expected: notPermitted },
  ];
  for (const role of roleSchema.options) {
    const sub = `${role}@walk.test`;
    await addMember(sub, role);
    callers.push({ name: `a member who is ${role}`, as: await signed(sub), sub, expected: memberMay(role) });
  }
  await addMember("former@walk.test", "admin");
  const removed = await call(gateway, "/api/v1/members/former%40walk.test", { method: "DELETE", as: owner });
  assert.equal(removed.status, 204, await removed.text());
  callers.push({ name: "an admin who was removed", as: await signed("former@walk.test"), expected: notPermitted });

  for (const scopes of scopeSets) {
    const { as } = await keyWith(scopes);
    callers.push({ name: `a key with ${scopes.join(" and ")}`, as, expected: keyMay(scopes) });
  }
  const revoked = await keyWith(scopeSchema.options);
  const ended = await call(gateway, `/api/v1/api-keys/${revoked.id}`, { method: "DELETE", as: owner });
  assert.equal(ended.status, 204, await ended.text());
  callers.push({ name: "a key that was revoked", as: revoked.as, expected: notAuthenticated });
  const expired = await keyWith(scopeSchema.options, new Date(Date.now() + 1500).toISOString());
  await eventually(async () => (await statusOf(expired.as)) === 401, "the key has expired");
  callers.push({ name: "a key that has expired", as: expired.as, expected: notAuthenticated });
  return { tenant, callers };
}

function notAuthenticated(): 401 {
  return 401;
}

function notPermitted(): 403 {
  return 403;
}

function memberMay(role: Role): Caller["expected"] {
  return ({ permission }) => (permission === null || permission.roles.includes(role) ? "allowed" : 403);
}

function keyMay(scopes: readonly Scope[]): Caller["expected"] {
  return ({ permission }) => {
    if (permission === null) return "allowed";
    const { scopes: needed } = permission;
    return needed.length > 0 && needed.every((scope) => scopes.includes(scope)) ? "allowed" : 403;
  };
}
