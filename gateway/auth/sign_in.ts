import { isJsonObject } from "../../shared/json.ts";
import { readBounded } from "../../shared/read_bounded.ts";
import type { IssuerEndpoints } from "../http/session_schema.ts";
import { isIssuerAddress, type SignInConfig } from "../config.ts";
import type { Log } from "../observability/log.ts";

/** The issuer that people sign in at, as the live page needs it. All of it is public. */
export type SignIn = ReturnType<typeof createSignIn>;

const refreshAfterMs = 600_000;
const cooldownMs = 1000;
const timeoutMs = 3000;
const maxBytes = 262_144;

/** Reads the issuer's discovery document, and keeps what it said while the issuer is away. */
export function createSignIn(config: SignInConfig, log: Pick<Log, "warn">, nowMs = () => performance.now()) {
  let known: IssuerEndpoints | null = null;
  let notBeforeMs = -Infinity;
  return {
    ...config,
    /** Null: the issuer's settings cannot be read now, and never could be. */
    async endpoints(): Promise<IssuerEndpoints | null> {
      if (nowMs() < notBeforeMs) return known;
      // Others go on with what is known: on Workers a request may not wait for another's fetch.
      notBeforeMs = nowMs() + (known === null ? cooldownMs : refreshAfterMs);
      try {
        known = await discover(config.issuer);
        notBeforeMs = nowMs() + refreshAfterMs;
      } catch (error) {
        // The page asks again when somebody wants to sign in.
        log.warn({ error }, "the issuer's discovery document cannot be used");
      }
      return known;
    },
  };
}

/** https://openid.net/specs/openid-connect-discovery-1_0.html */
async function discover(issuer: string): Promise<IssuerEndpoints> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  // A redirect would let another server choose the endpoints.
  const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
  const text = new TextDecoder().decode(await readBounded(response.body, maxBytes));
  if (response.status !== 200) throw new TypeError(`${url} answered with status ${response.status}`);
  const document: unknown = JSON.parse(text);
  if (!isJsonObject(document) || document["issuer"] !== issuer) {
    throw new TypeError(`${url} does not name exactly AUTH_ISSUER as its issuer`);
  }
  const address = (name: string) => {
    const value = document[name];
    return typeof value === "string" && isIssuerAddress(value) ? value : null;
  };
  const [authorization, token] = [address("authorization_endpoint"), address("token_endpoint")];
  if (authorization === null || token === null) throw new TypeError(`${url} names no https address of an endpoint`);
  return {
    authorization_endpoint: authorization,
    token_endpoint: token,
    end_session_endpoint: address("end_session_endpoint"),
    authorization_response_iss_parameter_supported: document["authorization_response_iss_parameter_supported"] === true,
  };
}
