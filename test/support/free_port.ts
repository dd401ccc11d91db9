import { once } from "node:events";
import { createServer } from "node:net";

/** A loopback port that is free now, for a program that cannot be told to choose its own. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port");
  return address.port;
}
