import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** A real HTTP server that gives one answer after the other; the last one is given again and again. */
export async function startScriptedServer(...answers: readonly [Answer, ...Answer[]]) {
  const requests: IncomingMessage[] = [];
  const closings: PromiseWithResolvers<void>[] = [];
  const closing = (index: number) => (closings[index] ??= Promise.withResolvers<void>());
  const server = createServer((request, response) => {
    const index = requests.push(request) - 1;
    response.on("close", () => closing(index).resolve());
    const answer = answers[Math.min(index, answers.length - 1)] ?? answers[0];
    void answer(response, request);
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/api/v1/scans/1/event-stream`,
    requests: requests as readonly IncomingMessage[],
    /** Resolves when the nth request's connection or answer is over. */
    closed: (index: number) => closing(index).promise,
    [Symbol.asyncDispose]: close,
  };
}

export function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Answers one request; an open stream's answer returns while the response stays open. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

/** Returns what answers with 200 and chunks, each of which leaves separately, and then does this to the response. */
function streamWith(end: (response: ServerResponse) => void) {
  return (...chunks: readonly string[]): Answer =>
    async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).flushHeaders();
      for (const chunk of chunks) await write(response, chunk);
      end(response);
    };
}

/** The stream stays open. */
export const stream = streamWith(() => {});
/** The stream is ended politely. */
export const endedStream = streamWith((response) => void response.end());
/** The connection breaks. */
export const cutStream = streamWith((response) => void response.destroy());

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
function write(response: ServerResponse, chunk: string): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    response.write(chunk, () => setImmediate(resolve));
  });
}
