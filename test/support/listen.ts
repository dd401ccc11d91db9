import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

/** Listens on a free loopback port. */
export async function listen(server: Server) {
  const host = "127.0.0.1";
  await once(server.listen(0, host, 4096), "listening");
  const { port } = server.address() as AddressInfo;
  /** Ends every HTTP connection, and waits for others. */
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    if ("closeAllConnections" in server) (server as HttpServer).closeAllConnections();
    await closed;
  };
  return { host, port, url: `http://${host}:${port}`, close, [Symbol.asyncDispose]: close };
}
