import { METHODS, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { hasCode } from "../../shared/error_code.ts";

/** What Node's parser rejects never becomes a request: it is answered here, with a problem document like every other error. */
const refusals: readonly (readonly [code: string, line: string, title: string, headers?: string])[] = [
  [
    "HPE_INVALID_METHOD",
    "405 Method Not Allowed",
    "Method not allowed",
    "allow: GET, HEAD, POST, PATCH, PUT, DELETE\r\n",
  ],
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large", "Header too large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout", "Request too slow"],
];
const malformed = ["", "400 Bad Request", "Malformed request"] as const;

interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Uint8Array;
}

export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: ClientError, socket: Duplex) => {
    // The peer has disconnected, or a response is being sent: a second one would be read as part of it.
    if (hasCode(error, "ECONNRESET") || !socket.writable || hasAnswer(socket)) {
      socket.destroy();
      return;
    }
    const problem = isUnknownMethod(error) ? "HPE_INVALID_METHOD" : error.code;
    const [, line, title, headers = ""] = refusals.find(([code]) => code === problem) ?? malformed;
    const status = Number(line.slice(0, 3));
    const code = status === 405 ? "method_not_allowed" : "malformed";
    const detail = "The request cannot be understood";
    const body = JSON.stringify({ type: `urn:scanstream:problem:${code}`, title, status, detail, code });
    socket.end(
      `HTTP/1.1 ${line}\r\n${headers}content-type: application/problem+json\r\ncontent-length: ${body.length}\r\n` +
        `connection: close\r\n\r\n${body}`,
    );
  });
}

/** Deno's parser says of every mistake only that it is one. */
function isUnknownMethod({ code, rawPacket }: ClientError): boolean {
  if (code !== "HPE_ERROR" || rawPacket === undefined) return false;
  const [, method] = /^([A-Z-]{1,32}) \S+ HTTP\/1\.[01]\r\n/.exec(new TextDecoder("latin1").decode(rawPacket)) ?? [];
  return method !== undefined && !METHODS.includes(method);
}

/** Node keeps the response that a socket is busy with here, https://nodejs.org/api/http.html#event-clienterror */
function hasAnswer(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { readonly _httpMessage?: { readonly headersSent?: boolean } | null };
  return message?.headersSent === true;
}
