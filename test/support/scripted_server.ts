import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Answer } from "./answers.ts";

export { cutStream, endedStream, problem, status, stream, type Answer } from "./answers.ts";

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
