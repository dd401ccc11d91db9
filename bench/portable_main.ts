import { createServer } from "node:http";
import process from "node:process";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "../gateway/app.ts";
import { parseConfig } from "../gateway/config.ts";
import { openGatewayParts } from "../gateway/runtime/gateway_parts.ts";
import { createLog } from "../gateway/observability/log.ts";

/** The whole gateway with the portable sink, on Node and on Deno: what `serve` is without the socket sink. */
interface DenoServer {
  serve(
    options: { readonly port: number; readonly hostname: string; onListen(address: { readonly port: number }): void },
    handler: (request: Request, info: unknown) => Response | Promise<Response>,
  ): { shutdown(): Promise<void> };
}

const parts = await openGatewayParts({
  config: parseConfig(process.env),
  log: createLog({ write: (line) => void process.stderr.write(line) }),
  webAssets: { read: async () => null },
  peerAddress: () => null,
});
const app = createApp(parts.dependencies);
const { Deno: deno } = globalThis as { readonly Deno?: DenoServer };
const say = (port: number) => void process.stdout.write(`The gateway listens on http://127.0.0.1:${port}\n`);
if (deno === undefined) {
  const listener = getRequestListener((request, bindings) => app.fetch(request, bindings));
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
    const address = server.address();
    if (address !== null && typeof address === "object") say(address.port);
  });
} else {
  deno.serve({ port: 0, hostname: "127.0.0.1", onListen: ({ port }) => say(port) }, (request) => app.fetch(request));
}
process.once("SIGTERM", () => process.exit(0));
