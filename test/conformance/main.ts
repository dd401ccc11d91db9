import { AssertionError } from "node:assert/strict";
import { gatewayContract } from "./gateway_contract.ts";
import { missingNeeds, type GatewayUnderTest, type Need } from "./gateway_harness.ts";
import { readSession, type SessionAnswer } from "./gateway_session_cases.ts";

// `npm run conformance -- URL`: the promises of a running gateway, as far as they can be seen from outside. It registers
// scans of its tenant and ends or abandons them; give it a tenant of its own.
const usage = `Usage: npm run conformance -- URL [WORDS]

Checks a running gateway, wherever it runs, and exits with 1 when it breaks a promise. With WORDS: only the cases that have
them in their names.

  CONFORMANCE_API_KEY           required: an API key of a tenant that is there for this, with all scopes
                                (scanstream admin api-key create --scopes read,publish,admin …)
  CONFORMANCE_TOKEN             a JWT of an operator or admin of the same tenant
  CONFORMANCE_STRANGER_API_KEY  an API key of another tenant, with all scopes
  CONFORMANCE_ORIGIN            an origin of CORS_ORIGINS
  CONFORMANCE_RUNTIME           "workers" for a gateway on Workers, which cannot see empty headers

What needs something that is not given is counted and named, not passed.`;

/** How somebody who runs this would meet the need of a case. */
const howToMeet: Readonly<Record<Need, string>> = {
  user: "CONFORMANCE_TOKEN",
  stranger: "CONFORMANCE_STRANGER_API_KEY",
  origin: "CONFORMANCE_ORIGIN",
  empty_headers: "another runtime than Workers",
  control: "the gateway's own database and broker",
};

/** The gateway or a credential is not what the cases need: a word about it, and exit code 2. */
class CannotCheck extends Error {}

const [address, words = ""] = process.argv.slice(2);
const cases = gatewayContract.filter(({ name }) => name.includes(words));
const apiKey = variable("CONFORMANCE_API_KEY");
let code = 2;
if (address === undefined || !URL.canParse(address) || apiKey === null) {
  console.error(usage);
} else if (cases.length === 0) {
  console.error(`Cannot check anything: no case has ${JSON.stringify(words)} in its name`);
} else {
  const url = new URL(address).href.replace(/\/+$/, "");
  try {
    code = await check(await readGateway(url, apiKey));
  } catch (error) {
    if (!(error instanceof CannotCheck)) throw error;
    console.error(`Cannot check ${url}: ${error.message}`);
  }
}
// A case that failed may have left a stream open, which would keep the process for as long as the gateway lives.
process.exit(code);

async function readGateway(url: string, key: string): Promise<GatewayUnderTest> {
  const own = await readKey(url, "CONFORMANCE_API_KEY", key);
  const token = variable("CONFORMANCE_TOKEN");
  const user = token === null ? null : await readMember(url, token, own.tenant?.id);
  const strangerApiKey = variable("CONFORMANCE_STRANGER_API_KEY");
  if (strangerApiKey !== null) {
    const stranger = await readKey(url, "CONFORMANCE_STRANGER_API_KEY", strangerApiKey);
    if (stranger.tenant?.id === own.tenant?.id) {
      throw new CannotCheck("CONFORMANCE_STRANGER_API_KEY is of the same tenant as CONFORMANCE_API_KEY");
    }
  }
  return {
    url,
    tenant: { id: own.tenant?.id ?? "", apiKey: key, apiKeyId: own.id, token, sub: user?.id ?? "" },
    strangerApiKey,
    origin: variable("CONFORMANCE_ORIGIN"),
    seesEmptyHeaders: variable("CONFORMANCE_RUNTIME") !== "workers",
    control: null,
  };
}

async function readKey(url: string, name: string, key: string): Promise<SessionAnswer> {
  const session = await read(url, name, `Api-Key ${key}`);
  const missing = ["read", "publish", "admin"].filter((scope) => session.scopes?.includes(scope) !== true);
  if (missing.length > 0) throw new CannotCheck(`${name} has to have the scopes read, publish and admin`);
  return session;
}

async function readMember(url: string, token: string, tenantId: string | undefined): Promise<SessionAnswer> {
  const session = await read(url, "CONFORMANCE_TOKEN", `Bearer ${token}`);
  if (session.tenant?.id !== tenantId) {
    throw new CannotCheck("CONFORMANCE_TOKEN is of another tenant than CONFORMANCE_API_KEY");
  }
  if (session.tenant?.role === "viewer") {
    throw new CannotCheck("CONFORMANCE_TOKEN is a viewer's: it has to be an operator's or an admin's");
  }
  return session;
}

async function read(url: string, name: string, as: string): Promise<SessionAnswer> {
  try {
    return await readSession({ url }, as);
  } catch (error) {
    if (error instanceof AssertionError) throw new CannotCheck(`${name} was refused with ${error.message}`);
    if (error instanceof SyntaxError) throw new CannotCheck("what answers there is no scanstream gateway");
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new CannotCheck(`it cannot be reached${cause}`);
  }
}

async function check(gateway: GatewayUnderTest): Promise<number> {
  const counts = { passed: 0, failed: 0, left: 0 };
  for (const one of cases) {
    const missing = missingNeeds(gateway, one);
    if (missing.length > 0) {
      counts.left += 1;
      console.log(`left out  ${one.name} (needs ${missing.map((need) => howToMeet[need]).join(", ")})`);
      continue;
    }
    try {
      await one.run(gateway);
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

function variable(name: string): string | null {
  const value = process.env[name]?.trim() ?? "";
  return value === "" ? null : value;
}
