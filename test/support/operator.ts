import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { AdminArguments, AdminOperation } from "../../gateway/operator/operations.ts";
import type { Role } from "../../shared/schemas/team.ts";

export const issuer = "https://issuer.test";
export const audience = "scanstream-test";
/** Member that each tenant of `createTenant` begins with, an operator. */
export const member = "member@acme.test";

export type IssuerKey = Awaited<ReturnType<typeof createIssuerKey>>;

export async function createIssuerKey(alg = "ES256", kid = "test-key") {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** The variables of a gateway that accepts the tokens of this key. */
export function issuerEnvironment({ publicJwk }: IssuerKey) {
  return {
    AUTH_JWKS: JSON.stringify({ keys: [publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
  };
}

export type TestTenant = Awaited<ReturnType<TestOperator["createTenant"]>>;
export type TestOperator = ReturnType<typeof createOperator>;

type Admin = (operation: AdminOperation, args: AdminArguments) => Promise<unknown>;

/** Operator of a gateway, and the issuer of its tokens. */
export function createOperator(admin: Admin, { kid, privateKey }: IssuerKey) {
  const secrets: string[] = [];

  /** Makes a JWT that the gateway accepts unless a claim says otherwise, for 10 minutes. */
  async function sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds = 600): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: issuer, aud: audience, iat: now, exp: now + lifetimeSeconds, ...claims };
    const token = await new SignJWT(all).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
    secrets.push(token);
    return token;
  }

  return {
    sign,
    /** Every key and token that was ever given out: none may be logged. */
    secrets: secrets as readonly string[],
    /** With a key of every scope, and a JWT of `sub`, who is a member. */
    async createTenant(name: string) {
      const { id: tenant } = (await admin("tenant.create", { name })) as { readonly id: string };
      await admin("user.create", { tenant, sub: member });
      const key = await admin("api-key.create", { tenant, name: "test", scopes: "read,publish,admin" });
      const { id: apiKeyId, api_key: apiKey } = key as { readonly id: string; readonly api_key: string };
      secrets.push(apiKey);
      const token = await sign({ tenant_id: tenant, sub: member });
      return { id: tenant, name, apiKey, apiKeyId, token, sub: member };
    },
    revokeApiKey: async (id: string) => void (await admin("api-key.revoke", { id })),
    addUser: async (tenant: string, sub: string, role: Role) =>
      void (await admin("user.create", { tenant, sub, role })),
    removeUser: async (tenant: string, sub: string) => void (await admin("user.remove", { tenant, sub })),
  };
}
