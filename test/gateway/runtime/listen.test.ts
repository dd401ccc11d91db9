import { afterEach, expect, test } from "vitest";
import { listenForMany, type Listening } from "../../../gateway/runtime/listen.ts";

let listening: Listening | null = null;

afterEach(() => {
  for (const server of listening?.servers ?? []) {
    server.close();
    server.closeAllConnections();
  }
});

test("a port is shared with no other program, not even with another gateway", async () => {
  const address = { host: "127.0.0.1", port: 0, variable: "PORT" } as const;
  listening = await listenForMany(() => {}, address);
  await expect(listenForMany(() => {}, { ...address, port: listening.port })).rejects.toThrow(
    "PORT: expected a free port",
  );
});
