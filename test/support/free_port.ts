import { createServer } from "node:net";
import { listen } from "./listen.ts";

/** A loopback port that is free now, for a program that cannot be told to choose its own. */
export async function freePort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}
