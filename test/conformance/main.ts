import { gatewayContract } from "./gateway_contract.ts";
import { call, missingNeeds, type GatewayUnderTest } from "./gateway_harness.ts";

// `npm run conformance -- URL`: the promises of a running gateway, as far as they can be seen from outside. It registers
// scans of its tenant and ends or abandons them; give it a tenant of its own.
const usage = `Usage: npm run conformance -- URL

Checks a running gateway, wherever it runs, and exits with 1 when it breaks a promise.

  CONFORMANCE_API_KEY           required: an API key of a tenant that is there for this
  CONFORMANCE_TOKEN             a JWT of a member of the same tenant
  CONFORMANCE_STRANGER_API_KEY  an API key of another tenant
  CONFORMANCE_ORIGIN            an origin of CORS_ORIGINS
  CONFORMANCE_RUNTIME           "workers" for a gateway on Workers, which cannot see empty headers

What needs something that is not given is counted and named, not passed.`;

const [address] = process.argv.slice(2);
const apiKey = variable("CONFORMANCE_API_KEY");
if (address === undefined || !URL.canParse(address) || apiKey === null) {
  console.error(usage);
  process.exitCode = 2;
} else {
  process.exitCode = await check(new URL(address).href.replace(/\/+$/, ""), apiKey);
}

async function check(url: string, key: string): Promise<number> {
  const gateway: GatewayUnderTest = {
    url,
    tenant: { id: "", apiKey: key, apiKeyId: "", token: variable("CONFORMANCE_TOKEN"), sub: "" },
    strangerApiKey: variable("CONFORMANCE_STRANGER_API_KEY"),
    origin: variable("CONFORMANCE_ORIGIN"),
    seesEmptyHeaders: variable("CONFORMANCE_RUNTIME") !== "workers",
    control: null,
  };
  const tenantId = await tenantOf(gateway);
  if (tenantId === null) return 2;
  const counts = { passed: 0, failed: 0, left: 0 };
  for (const one of gatewayContract) {
    const missing = missingNeeds(gateway, one);
    if (missing.length > 0) {
      counts.left += 1;
      console.log(`left out  ${one.name} (needs ${missing.join(", ")})`);
      continue;
    }
    try {
      await one.run({ ...gateway, tenant: { ...gateway.tenant, id: tenantId } });
      counts.passed += 1;
      console.log(`passed    ${one.name}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`FAILED    ${one.name}\n          ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.left} left out`);
  return counts.failed === 0 ? 0 : 1;
}

/** Whose key it is; null, and a word about it, when the gateway does not take it. */
async function tenantOf(gateway: GatewayUnderTest): Promise<string | null> {
  try {
    const response = await call(gateway, "/api/v1/scans", { as: `Api-Key ${gateway.tenant.apiKey}`, json: {} });
    if (response.status === 201) return ((await response.json()) as { readonly tenant_id: string }).tenant_id;
    console.error(`Cannot check ${gateway.url}: CONFORMANCE_API_KEY was answered with ${response.status}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    console.error(`Cannot check ${gateway.url}: it cannot be reached${cause}`);
  }
  return null;
}

function variable(name: string): string | null {
  const value = process.env[name]?.trim() ?? "";
  return value === "" ? null : value;
}
