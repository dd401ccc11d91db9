import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { hasCode } from "../../shared/error_code.ts";

interface Refusal {
  readonly line: string;
  readonly title: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const malformed: Refusal = { line: "400 Bad Request", title: "Malformed request" };
const unknownMethod: Refusal = {
  line: "405 Method Not Allowed",
  title: "Method not allowed",
  headers: { allow: "GET, HEAD, POST, PATCH, PUT, DELETE" },
};
const unmetExpectation: Refusal = { line: "417 Expectation Failed", title: "Only 100-continue can be expected" };

/** What Node rejects never becomes a request: it is answered here, with a problem document like every other error. */
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_METHOD: unknownMethod,
  HPE_HEADER_OVERFLOW: { line: "431 Request Header Fields Too Large", title: "Header too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { line: "408 Request Timeout", title: "Request too slow" },
};

interface ClientError extends Error {
  readonly code?: string;
}

export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: ClientError, socket: Duplex) => {
    // The peer has disconnected, or a response is being sent: a second one would be read as part of it.
    if (hasCode(error, "ECONNRESET") || !socket.writable || hasAnswer(socket)) {
      socket.destroy();
      return;
    }
    refuse(socket, refusals[error.code ?? ""] ?? malformed);
  });
  // The gateway is no proxy. Node hands the bare connection over, and closes it in silence where nobody takes it.
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => refuse(socket, unknownMethod));
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    answer(response, unmetExpectation);
  });
}

/** With no Host header or several, a request of HTTP/1.1 is 400: RFC 9112, section 3.2. HTTP/1.0 has none. */
export function requireOneHost(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { rawHeaders, httpVersion } = request;
    const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
    if (count === 1 || (count === 0 && httpVersion === "1.0")) listener(request, response);
    else answer(response, malformed);
  };
}

function answer(response: ServerResponse, refusal: Refusal): void {
  const { status, headers, body } = toAnswer(refusal);
  response.writeHead(status, headers).end(body);
}

function refuse(socket: Duplex, refusal: Refusal): void {
  const { headers, body } = toAnswer(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${refusal.line}\r\n${lines.join("")}\r\n${body}`);
}

/** Closes the connection: what follows such a request may not be another. */
function toAnswer({ line, title, headers }: Refusal) {
  const status = Number(line.slice(0, 3));
  const code = status === 405 ? "method_not_allowed" : "malformed";
  const detail = "The request cannot be understood";
  const body = JSON.stringify({ type: `urn:scanstream:problem:${code}`, title, status, detail, code });
  const own = { "content-type": "application/problem+json", "content-length": `${body.length}`, connection: "close" };
  return { status, body, headers: { ...headers, ...own } };
}

/** Node keeps the response that a socket is busy with here, https://nodejs.org/api/http.html#event-clienterror */
function hasAnswer(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as { readonly _httpMessage?: { readonly headersSent?: boolean } | null };
  return message?.headersSent === true;
}
