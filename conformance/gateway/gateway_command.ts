import { AssertionError } from "node:assert/strict";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { gatewayContract } from "../../test/contract/contract.ts";
import { missingNeeds, type GatewayCase, type GatewayUnderTest, type Need } from "../../test/contract/harness.ts";
import { readSession, type SessionAnswer } from "../../test/contract/session_cases.ts";

/** How somebody who runs this would meet the need of a case. */
const howToMeet: Readonly<Record<Need, string>> = {
  user: "CONFORMANCE_TOKEN",
  stranger: "CONFORMANCE_STRANGER_API_KEY",
  origin: "CONFORMANCE_ORIGIN",
  headers_as_sent: "another runtime than Workers",
  control: "the gateway's own database and broker",
};

/** The gateway or a credential is not what the cases need. */
class CannotCheck extends Error {}

/**
 * `gateway URL [WORDS]`: runs the cases whose names have the words. Resolves with the exit code: 1 when a promise is broken, 2 when
 * the gateway or a credential is not what the cases need.
 */
export async function gatewayCommand(
  address: string,
  words: string,
  io: Pick<CommandIo, "env" | "stdout">,
): Promise<number> {
  const cases = gatewayContract.filter(({ name }) => name.includes(words));
  if (cases.length === 0) throw new UsageError([`No case has ${JSON.stringify(words)} in its name`]);
  if (!URL.canParse(address)) throw new UsageError([`URL ${JSON.stringify(address)}: expected the gateway's address`]);
  const url = new URL(address).href.replace(/\/+$/, "");
  try {
    return await check(await readGateway(url, io), cases, io);
  } catch (error) {
    if (!(error instanceof CannotCheck)) throw error;
    throw new UsageError([`Cannot check ${url}: ${error.message}`]);
  }
}

async function readGateway(url: string, { env }: Pick<CommandIo, "env">): Promise<GatewayUnderTest> {
  const variable = (name: string) => env[name]?.trim() || null;
  const key = variable("CONFORMANCE_API_KEY");
  if (key === null) throw new CannotCheck("CONFORMANCE_API_KEY is not set: expected an API key with all scopes");
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
    seesHeadersAsSent: variable("CONFORMANCE_RUNTIME") !== "workers",
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
  if (session.tenant?.role === "viewer" || session.tenant?.role === "auditor") {
    throw new CannotCheck("CONFORMANCE_TOKEN only reads: it has to be an operator's or an admin's");
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

async function check(
  gateway: GatewayUnderTest,
  cases: readonly GatewayCase[],
  { stdout }: Pick<CommandIo, "stdout">,
): Promise<number> {
  const counts = { passed: 0, failed: 0, left: 0 };
  for (const one of cases) {
    const missing = missingNeeds(gateway, one);
    if (missing.length > 0) {
      counts.left += 1;
      stdout(`left out  ${one.name} (needs ${missing.map((need) => howToMeet[need]).join(", ")})\n`);
      continue;
    }
    try {
      await one.run(gateway);
      counts.passed += 1;
      stdout(`passed    ${one.name}\n`);
    } catch (error) {
      counts.failed += 1;
      stdout(`FAILED    ${one.name}\n          ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  stdout(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.left} left out\n`);
  return counts.failed === 0 ? exitCodes.ok : exitCodes.findings;
}
