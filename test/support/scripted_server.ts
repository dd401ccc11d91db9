import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pause } from "../../shared/abortable.ts";

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Resolves when the nth request's connection or answer is over. */
  closed(index: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A real HTTP server that gives one answer after the other; the last one is given again and again. */
export async function startScriptedServer(...answers: readonly [Answer, ...Answer[]]): Promise<ScriptedServer> {
  const requests: IncomingMessage[] = [];
  const closings: PromiseWithResolvers<void>[] = [];
  const closing = (index: number) => (closings[index] ??= Promise.withResolvers<void>());
  const server = createServer((request, response) => {
    const index = requests.push(request) - 1;
    response.on("close", () => closing(index).resolve());
    const answer = answers[Math.min(index, answers.length - 1)] ?? answers[0];
    void answer(response, request);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api/v1/scans/1/event-stream`,
    requests,
    closed: (index) => closing(index).promise,
    async [Symbol.asyncDispose]() {
      const isClosed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await isClosed;
    },
  };
}

export function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Answers one request; an open stream's answer returns while the response stays open. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

/** A part of a stream's body: bytes that leave as one chunk, or a pause. */
type Chunk = string | Uint8Array | Pause;
type Pause = { readonly waitMs: number } | { readonly until: Promise<void> };

/** 200 and these chunks; the stream stays open. */
export function stream(...chunks: readonly Chunk[]): Answer {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
    await send(response, ...chunks);
  };
}

/** More of a body, or a pause. */
async function send(response: ServerResponse, ...chunks: readonly Chunk[]): Promise<void> {
  for (const chunk of chunks) await write(response, chunk);
}

/** The same, ended politely. */
export function endedStream(...chunks: readonly Chunk[]): Answer {
  return async (response, request) => {
    await stream(...chunks)(response, request);
    response.end();
  };
}

/** The same, then the connection breaks. */
export function cutStream(...chunks: readonly Chunk[]): Answer {
  return async (response, request) => {
    await stream(...chunks)(response, request);
    response.destroy();
  };
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body = ""): Answer {
  return (response) => {
    response.writeHead(code, headers);
    response.end(body);
  };
}

export function problem(code: number, detail: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = { type: "about:blank", title: "Refused", status: code, detail, code: "refused" };
  return status(code, { "content-type": "application/problem+json", ...headers }, JSON.stringify(body));
}

/** Resolves when the chunk has left this process, so that the next one is a separate chunk. */
function write(response: ServerResponse, chunk: Chunk): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  if (typeof chunk === "object" && "until" in chunk) return chunk.until;
  if (typeof chunk === "object" && "waitMs" in chunk) return waitWhileOpen(response, chunk.waitMs);
  return new Promise((resolve) => {
    response.write(chunk, () => setImmediate(resolve));
  });
}

/** Resolves after the time, or when the client is gone. */
async function waitWhileOpen(response: ServerResponse, ms: number): Promise<void> {
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once("close", close);
  await pause(ms, [closed.signal]);
  response.off("close", close);
}
