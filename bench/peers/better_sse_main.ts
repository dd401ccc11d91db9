import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { text } from "node:stream/consumers";
import { peersFolder } from "./folder.ts";

/** better-sse on `node:http`: its channel is given every session, and broadcasts. */
interface BetterSse {
  createSession(incoming: IncomingMessage, outgoing: ServerResponse): Promise<unknown>;
  createChannel(): { register(session: unknown): void; broadcast(data: unknown, eventName: string): void };
}

const file = createRequire(join(peersFolder, "package.json")).resolve("better-sse");
const { createSession, createChannel } = (await import(pathToFileURL(file).href)) as BetterSse;
const channel = createChannel();
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`LISTEN ${address.port}\n`);
});
process.once("SIGTERM", () => process.exit(0));

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (incoming.method === "GET") {
    channel.register(await createSession(incoming, outgoing));
    return;
  }
  channel.broadcast(JSON.parse(await text(incoming)), "scan.progress");
  outgoing.writeHead(200, { "Content-Length": 0 }).end();
}
