import type { IncomingMessage, ServerResponse } from "node:http";
import { pause } from "../../shared/abortable.ts";

/** Answers one request; an open stream's answer returns while the response stays open. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

/** A part of a stream's body: bytes that leave as one chunk, or a pause. */
export type Chunk = string | Uint8Array | Pause;
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
export async function send(response: ServerResponse, ...chunks: readonly Chunk[]): Promise<void> {
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
