import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { resetSocket } from "../../shared/reset_socket.ts";
import type { PracticeRequest, PracticeResponse } from "./messages.ts";

/** Use of the connection by the server. */
export type Outcome =
  | {
      readonly kind: "answer";
      readonly response: PracticeResponse;
      /** The org's latency does not apply. */
      readonly isAtOnce?: boolean;
    }
  /** The head and half of the body are sent, then the connection breaks. */
  | { readonly kind: "cut"; readonly response: PracticeResponse }
  | { readonly kind: "reset" }
  | { readonly kind: "silence" };

export interface ServeOptions {
  readonly answer: (request: PracticeRequest) => Promise<Outcome>;
  readonly latencyMs: number;
  /** Ends the waiting of delayed answers, which are then not sent. */
  readonly stopped: AbortSignal;
  readonly setStatus: (status: number) => void;
}

/** Reads one request, and sends or breaks its answer as `answer` says. */
export async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { answer, latencyMs, stopped, setStatus }: ServeOptions,
): Promise<void> {
  // An aborted request no longer knows its socket.
  const { socket } = incoming;
  const request = await readRequest(incoming);
  if (request === null) {
    socket.destroy();
    return;
  }
  const outcome = await answer(request);
  const delayMs = outcome.kind === "answer" && outcome.isAtOnce === true ? 0 : latencyMs;
  if (delayMs > 0) await setTimeout(delayMs, undefined, { signal: stopped }).catch(() => undefined);
  if (stopped.aborted || outcome.kind === "silence") return;
  if (outcome.kind === "reset") return resetSocket(socket);
  const { response, kind } = outcome;
  setStatus(response.status);
  writeHead(outgoing, response);
  if (kind === "answer") outgoing.end(response.body);
  else outgoing.write(response.body.slice(0, response.body.length / 2), () => socket.destroy());
}

/** Several values of one name become header lines of their own, as the provider sends `link`. */
function writeHead(outgoing: ServerResponse, response: PracticeResponse): void {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.setHeader("content-length", Buffer.byteLength(response.body));
}

/** A sign-in page is the longest that a client writes. */
const maxBodyBytes = 1_048_576;

/** Null when the client disconnected while it sent, or sent more than any request of this API is long. */
async function readRequest(incoming: IncomingMessage): Promise<PracticeRequest | null> {
  const body = await readBody(incoming);
  if (body === null) return null;
  const [path = "/", query = ""] = requestTarget(incoming).split(/\?(.*)/s);
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return { method: incoming.method ?? "GET", path, query: new URLSearchParams(query), headers, body };
}

/** Path and query. A client that takes the org for a proxy sends them with the origin, https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2 */
export function requestTarget({ url = "/" }: IncomingMessage): string {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

async function readBody(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBodyBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString("utf8");
}
