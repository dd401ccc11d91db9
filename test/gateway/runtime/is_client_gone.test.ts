import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { expect, test } from "vitest";
import { isClientGone } from "../../../gateway/runtime/is_client_gone.ts";

/** What `isClientGone` says of a request whose client then does something. */
async function ask(thenClient: (socket: ReturnType<typeof connect>) => void): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const listener = getRequestListener(async (_request, bindings) => {
    resolve(await isClientGone(bindings));
    return new Response("");
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    thenClient(socket);
    return await promise;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test("a client that sends its request and ends its connection has left", async () => {
  expect(await ask((socket) => void socket.end())).toBe(true);
});

test("a client that waits has not left", async () => {
  expect(await ask(() => {})).toBe(false);
});
