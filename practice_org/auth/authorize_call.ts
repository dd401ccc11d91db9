import { signatureAlgorithms, verifyProof, type ReplayGuard } from "./dpop_proof.ts";
import {
  providerError,
  epochSeconds,
  type Header,
  type PracticeRequest,
  type PracticeResponse,
} from "../http/messages.ts";
import type { AccessTokens } from "./access_tokens.ts";

export interface ResourceServer {
  readonly url: string;
  readonly tokens: AccessTokens;
  readonly proofReplays: ReplayGuard;
}

export type TokenScheme = "Bearer" | "DPoP";

export type CallVerdict =
  | { readonly isAuthorized: true; readonly scheme: TokenScheme; readonly clientId: string }
  | { readonly isAuthorized: false; readonly response: PracticeResponse };

/**
 * Verdict on the token of a call: it is good and carries one of `scopes` (with their prefix), or for one that ends in `.read` the
 * one that ends in `.manage`. What the caller's role may see is decided later.
 */
export async function authorizeCall(
  server: ResourceServer,
  request: PracticeRequest,
  { scopes, nowMs }: { readonly scopes: readonly string[]; readonly nowMs: number },
): Promise<CallVerdict> {
  const authorization = request.headers.get("authorization");
  if (authorization === undefined) return refuse(providerError("E0000005"));
  const [scheme = "", token = ""] = authorization.split(" ");
  if (!/^(bearer|dpop)$/i.test(scheme)) return refuse(providerError("E0000011"));
  const isDpop = /^dpop$/i.test(scheme);
  const challenge: Omit<Challenge, "error" | "description"> = {
    url: server.url,
    scheme: isDpop ? "DPoP" : "Bearer",
    scopes,
    path: request.path,
  };
  const fields = server.tokens.read(token, epochSeconds(nowMs));
  if (fields === null || isDpop !== (fields.thumbprint !== null)) {
    const headers = [
      challengeHeader({ ...challenge, error: "invalid_token", description: "The access token is invalid." }),
    ];
    return refuse(providerError("E0000011", { headers }));
  }
  if (fields.thumbprint !== null) {
    const proof = await verifyProof(request.headers.get("dpop"), {
      method: request.method,
      url: `${server.url}${request.path}`,
      nowSeconds: epochSeconds(nowMs),
      replays: server.proofReplays,
      accessToken: token,
    });
    const description = proof.isValid
      ? "The DPoP proof JWT is not signed with the key that the access token is bound to."
      : proof.description;
    if (!proof.isValid || proof.thumbprint !== fields.thumbprint) {
      return refuse(emptyRefusal(400, { ...challenge, error: "invalid_dpop_proof", description }));
    }
  }
  const accepted = scopes.flatMap((scope) => [scope, scope.replace(/\.read$/, ".manage")]);
  if (!accepted.some((scope) => fields.scopes.includes(scope))) return refuse(insufficientScope(challenge));
  return { isAuthorized: true, scheme: challenge.scheme, clientId: fields.clientId };
}

export interface Challenge {
  readonly url: string;
  readonly scheme: TokenScheme;
  readonly scopes: readonly string[];
  readonly path: string;
  readonly error: string;
  readonly description: string;
}

/** 403 without a body: the challenge carries the reason. */
export function insufficientScope(challenge: Omit<Challenge, "error" | "description">): PracticeResponse {
  return emptyRefusal(403, {
    ...challenge,
    error: "insufficient_scope",
    description: "The access token provided does not contain the required scopes.",
  });
}

function emptyRefusal(status: number, challenge: Challenge): PracticeResponse {
  return { status, headers: [challengeHeader(challenge)], body: "" };
}

/** The provider writes `http://` here even where it is reached by https. */
function challengeHeader({ url, scheme, scopes, path, error, description }: Challenge): Header {
  const realm = url.replace(/^https:/, "http:");
  const parameters = [
    ...(scheme === "DPoP" ? [`algs="${signatureAlgorithms.join(" ")}"`] : []),
    `authorization_uri="${realm}/oauth2/v1/authorize"`,
    `realm="${realm}"`,
    `scope="${scopes.join(" ")}"`,
    `error="${error}"`,
    `error_description="${description}"`,
    `resource="${path}"`,
  ];
  return ["www-authenticate", `${scheme} ${parameters.join(", ")}`];
}

function refuse(response: PracticeResponse): CallVerdict {
  return { isAuthorized: false, response };
}
