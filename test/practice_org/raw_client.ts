import { createHash, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey } from "jose";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { defaultScopes } from "../../scanner/settings/values.ts";

/** A client of the org that shares no login with the scanner: jose, fetch, and the RFCs. Every part can be bent. */

interface AssertionParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: { readonly kid?: string };
  readonly key?: CryptoKey;
}

export interface ProofParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Claims that are left out. */
  readonly without?: readonly string[];
}

export interface TokenParts {
  readonly scope?: string;
  readonly assertion?: AssertionParts | string;
  readonly proof?: ProofParts | string | null;
}

interface OauthAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly error?: string;
    readonly error_description?: string;
    readonly access_token?: string;
  };
}

const allScopes = defaultScopes.map((name) => `okta.${name}`);

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export async function createRawClient(org: PracticeOrg) {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const publicJwk = await exportJWK(publicKey);
  const tokenUrl = `${org.url}/oauth2/v1/token`;
  const seconds = () => Math.floor(Date.now() / 1000);

  function assertion({ claims, header, key }: AssertionParts = {}): Promise<string> {
    const [iat, id] = [seconds(), org.clientId];
    return new SignJWT({ iss: id, sub: id, aud: tokenUrl, iat, exp: iat + 300, jti: randomUUID(), ...claims })
      .setProtectedHeader({ alg: "RS256", ...header })
      .sign(key ?? org.privateKeyJwk);
  }

  function proof(htm: string, htu: string, { claims = {}, without = [] }: ProofParts = {}): Promise<string> {
    const all = { htm, htu, iat: seconds(), jti: randomUUID(), ...claims };
    const kept = Object.entries(all).filter(([name]) => !without.includes(name));
    const header = { typ: "dpop+jwt", alg: "ES256", jwk: publicJwk };
    return new SignJWT(Object.fromEntries(kept)).setProtectedHeader(header).sign(privateKey);
  }

  async function requestToken(parts: TokenParts = {}): Promise<OauthAnswer> {
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      scope: parts.scope ?? allScopes.join(" "),
      client_assertion_type: assertionType,
      client_assertion: typeof parts.assertion === "string" ? parts.assertion : await assertion(parts.assertion),
    });
    const headers = new Headers();
    if (parts.proof !== null) {
      headers.set("dpop", typeof parts.proof === "string" ? parts.proof : await proof("POST", tokenUrl, parts.proof));
    }
    const response = await fetch(tokenUrl, { method: "POST", headers, body: form });
    return { status: response.status, headers: response.headers, body: (await response.json()) as OauthAnswer["body"] };
  }

  /** The nonce dance, then a token. */
  async function logIn(scopes: readonly string[]): Promise<string> {
    const nonce = await obtainNonce();
    const answer = await requestToken({ scope: scopes.join(" "), proof: { claims: { nonce } } });
    if (answer.body.access_token === undefined) throw new Error(`No token: ${JSON.stringify(answer.body)}`);
    return answer.body.access_token;
  }

  async function obtainNonce(): Promise<string> {
    const nonce = (await requestToken()).headers.get("dpop-nonce");
    if (nonce === null) throw new Error("No nonce");
    return nonce;
  }

  async function call(
    token: string,
    path: string,
    { method = "GET", body, ...parts }: ProofParts & { readonly method?: string; readonly body?: unknown } = {},
  ): Promise<Response> {
    const url = `${org.url}${path}`;
    const ath = createHash("sha256").update(token).digest("base64url");
    const dpop = await proof(method, url.split("?")[0] ?? url, { ...parts, claims: { ath, ...parts.claims } });
    const headers = { authorization: `DPoP ${token}`, dpop, "content-type": "application/json" };
    return fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  return { tokenUrl, assertion, proof, requestToken, obtainNonce, logIn, call };
}

/** A client that is logged in: `get` calls with a fresh proof each time. */
export async function signedIn(org: PracticeOrg, scopes: readonly string[] = allScopes) {
  const client = await createRawClient(org);
  const token = await client.logIn(scopes);
  return { ...client, token, get: (path: string) => client.call(token, path) };
}

/** The same org for Terraform's application in place of the scanner's. */
export function asTerraform(org: PracticeOrg): PracticeOrg {
  if (org.terraform === null) throw new TypeError("The org has no application for Terraform");
  return { ...org, ...org.terraform };
}
