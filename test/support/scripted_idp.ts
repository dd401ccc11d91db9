import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { generateKeyPairSync } from "node:crypto";
import { text } from "node:stream/consumers";
import { EmbeddedJWK, jwtVerify } from "jose";
import { listen } from "./listen.ts";
import type { SelfSigned } from "./self_signed.ts";

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly form: URLSearchParams;
}

/** Answer of the provider. An object or array body is sent as JSON; a text as it is. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  /** `reset`: the connection breaks; `hang`: nothing comes; `cut`: the body ends in the middle. */
  readonly fault?: "reset" | "hang" | "cut";
}

export type Script = Reply | ((request: SeenRequest) => Reply | Promise<Reply>);

export type ScriptedIdp = Awaited<ReturnType<typeof createScriptedIdp>>;

export interface ScriptedIdpOptions {
  readonly tls?: SelfSigned;
  /** The provider's clock; default: the machine's. */
  readonly nowMs?: () => number;
  /** The token endpoint gives DPoP tokens and insists on a nonce. */
  readonly dpop?: boolean;
  /** Answer to requests without a script; default: 404. */
  readonly otherwise?: Script;
}

export const tokenPath = "/oauth2/v1/token";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A real HTTP server with the provider's shapes: it answers as a test scripts it, and records requests. */
export async function createScriptedIdp(options: ScriptedIdpOptions = {}) {
  const requests: SeenRequest[] = [];
  const scripts = new Map<string, Script[]>();
  const nowMs = options.nowMs ?? (() => Date.now());
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    void answer(incoming, outgoing).catch(() => incoming.socket.destroy());
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const seen = await readSeen(incoming);
    requests.push(seen);
    const pathname = seen.url.split("?", 1)[0] ?? "";
    const queue = scripts.get(`${seen.method} ${seen.url}`) ?? scripts.get(`${seen.method} ${pathname}`);
    const script =
      (queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0]) ?? options.otherwise ?? notFound;
    send(outgoing, typeof script === "function" ? await script(seen) : script, nowMs());
  };
  const server = options.tls === undefined ? createHttpServer(listener) : createHttpsServer(options.tls, listener);
  const { url, port, close } = await listen(server);
  const idp = {
    url: options.tls === undefined ? url : `https://localhost:${port}`,
    clientId: "0oa1scripted",
    /** PEM, PKCS#8. */
    privateKey: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    requests: requests as readonly SeenRequest[],
    /** Answers to a path (without query, or with the very same one): one after another, the last one repeatedly. */
    on: (method: "GET" | "POST", path: string, ...replies: readonly [Script, ...Script[]]) =>
      void scripts.set(`${method} ${path}`, [...replies]),
    /** Requests that arrived for a path, with any query. */
    seen: (path: string): readonly SeenRequest[] => requests.filter((request) => request.url.split("?", 1)[0] === path),
    stop: close,
  };
  idp.on("GET", "/.well-known/okta-organization", {
    body: { id: "00o5qwjvg8hg7YpT81d7", pipeline: "idx", cell: "op3" },
  });
  idp.on("POST", tokenPath, options.dpop === true ? issueWithNonce(nowMs) : (request) => issueToken(request));
  return idp;
}

/** A token for what was asked; the shape of a recorded one. */
export function issueToken(request: SeenRequest, overrides: Readonly<Record<string, unknown>> = {}): Reply {
  const type = request.headers["dpop"] === undefined ? "Bearer" : "DPoP";
  const body = { token_type: type, expires_in: 3600, access_token: "opaque-token-1", scope: request.form.get("scope") };
  return { body: { ...body, ...overrides } };
}

export function oauthError(status: number, error: string, description: string): Reply {
  return { status, body: { error, error_description: description } };
}

export function apiError(status: number, errorCode: string, errorSummary = "Something is wrong"): Reply {
  return { status, body: { errorCode, errorSummary, errorLink: errorCode, errorId: "oaeX", errorCauses: [] } };
}

/** Rate limit headers whose window ends so many seconds after the server's `Date`. */
export function rateHeaders(limit: number, remaining: number, inSeconds: number, nowMs: number) {
  return {
    "x-rate-limit-limit": String(limit),
    "x-rate-limit-remaining": String(remaining),
    "x-rate-limit-reset": String(Math.floor(nowMs / 1000) + inSeconds),
  };
}

/** Verifies a DPoP proof with the key that it carries. */
export async function verifyProof(request: SeenRequest) {
  const { payload, protectedHeader } = await jwtVerify(request.headers["dpop"] ?? "", EmbeddedJWK, { typ: "dpop+jwt" });
  return { claims: payload, header: protectedHeader };
}

function issueWithNonce(nowMs: () => number): Script {
  return async (request) => {
    const { claims } = await verifyProof(request);
    const nonce = `nonce-${Math.floor(nowMs() / 86_400_000)}`;
    if (claims["nonce"] !== nonce) {
      const refusal = oauthError(400, "use_dpop_nonce", "Authorization server requires nonce in DPoP proof.");
      return { ...refusal, headers: { "dpop-nonce": nonce } };
    }
    return { ...issueToken(request), headers: { "dpop-nonce": nonce } };
  };
}

const notFound: Reply = apiError(404, "E0000007", "Not found: Resource not found");

async function readSeen(incoming: IncomingMessage): Promise<SeenRequest> {
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  return {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers,
    form: new URLSearchParams(await text(incoming)),
  };
}

function send(outgoing: ServerResponse, reply: Reply, nowMs: number): void {
  const { status = 200, body = "", headers = {}, fault } = reply;
  if (fault === "hang") return;
  if (fault === "reset") return void outgoing.socket?.resetAndDestroy();
  const content = typeof body === "string" ? body : JSON.stringify(body);
  outgoing.statusCode = status;
  outgoing.setHeader("date", new Date(nowMs).toUTCString());
  outgoing.setHeader("content-type", typeof body === "string" ? "text/html" : "application/json");
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (fault !== "cut") return void outgoing.end(content);
  outgoing.setHeader("content-length", Buffer.byteLength(content));
  outgoing.write(content.slice(0, content.length / 2), () => outgoing.socket?.destroy());
}
