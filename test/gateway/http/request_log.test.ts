import { expect, test } from "vitest";
import { createIssuerKey, createOperator, member } from "../../support/operator.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

const gateway = await openTestGateway({ TRUSTED_PROXY_HOPS: "1" });

/** One of its own for each request: a refused login is logged once a second for each address. */
let addresses = 0;

async function linesOf(as: string | undefined, times = 1, path = "/api/v1/scans"): Promise<readonly unknown[]> {
  addresses += 1;
  const address = `192.0.2.${addresses}`;
  const before = gateway.log.length;
  for (let sent = 0; sent < times; sent += 1) {
    const response = await gateway.request(path, {
      ...(as === undefined ? {} : { as }),
      headers: { "x-forwarded-for": address },
    });
    await response.text();
  }
  return gateway.log.slice(before).map((line) => JSON.parse(line) as unknown);
}

test("a request line has the tenant and the principal", async () => {
  const tenant_id = gateway.acme.id;
  const key = { tenant_id, principal: `api_key:${gateway.acme.apiKeyId}` };
  const user = { tenant_id, principal: `user:${member}` };
  const asKey = `Api-Key ${gateway.acme.apiKey}`;
  expect(await linesOf(asKey)).toMatchObject([{ level: "info", msg: "request", status: 200, ...key }]);
  expect(await linesOf(asKey, 1, "/api/v1/event-stream?scan_id=x")).toMatchObject([{ status: 404, ...key }]);
  expect(await linesOf(`Bearer ${gateway.acme.token}`, 1, "/api/v1/session")).toMatchObject([{ status: 200, ...user }]);
});

test("a refused login is one line with its reason, and without the credential", async () => {
  const claims = { tenant_id: gateway.acme.id, sub: member };
  const other = createOperator(async () => null, await createIssuerKey());
  const revoked = (await gateway.gateway.admin("api-key.create", { tenant: gateway.acme.id, name: "old" })) as {
    readonly id: string;
    readonly api_key: string;
  };
  await gateway.gateway.admin("api-key.revoke", { id: revoked.id });
  const refused: readonly (readonly [string, string])[] = [
    ["expired", `Bearer ${await gateway.sign({ ...claims, exp: 1 })}`],
    ["not_yet_valid", `Bearer ${await gateway.sign({ ...claims, nbf: 9_999_999_999 })}`],
    ["issuer", `Bearer ${await gateway.sign({ ...claims, iss: "https://other.test" })}`],
    ["audience", `Bearer ${await gateway.sign({ ...claims, aud: "other" })}`],
    ["signature", `Bearer ${await other.sign(claims)}`],
    ["tenant_claim", `Bearer ${await gateway.sign({ ...claims, tenant_id: "acme" })}`],
    ["not_a_member", `Bearer ${await gateway.sign({ ...claims, sub: "stranger" })}`],
    ["malformed", "Bearer x"],
    ["unknown_key", `Api-Key scs_00000000_${"0".repeat(64)}`],
    ["revoked_key", `Api-Key ${revoked.api_key}`],
    ["api_key_as_bearer", `Bearer ${gateway.acme.apiKey}`],
  ];
  for (const [reason, as] of refused) {
    const lines = await linesOf(as);
    // A token that is valid names the tenant instead.
    const from = reason === "not_a_member" ? { tenant_id: gateway.acme.id } : { address: `192.0.2.${addresses}` };
    expect(lines, reason).toMatchObject([{ level: "info", msg: "login refused", reason, ...from }]);
    expect(JSON.stringify(lines)).not.toContain(as.split(" ")[1]);
  }
});

test("many refused logins of one address in a second are one line; a request without a credential is none", async () => {
  const lines = await linesOf("Bearer x", 20);
  expect(lines.length).toBeLessThan(5);
  expect(await linesOf(undefined)).toMatchObject([{ level: "debug", msg: "request", status: 401 }]);
});
