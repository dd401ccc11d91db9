import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { boundIdleConnections } from "../../../gateway/runtime/idle_connections.ts";

test("a flood of connections closes those that are idle longest, and none that is being answered", async () => {
  const answers: ServerResponse[] = [];
  const server = createServer((_incoming, outgoing) => void answers.push(outgoing));
  boundIdleConnections([server], 3);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const sockets: Socket[] = [];
  const open = async () => {
    const accepted = once(server, "connection");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    sockets.push(socket.resume());
    await accepted;
    return socket;
  };
  const head = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
  const busy = await open();
  busy.write(head);
  await expect.poll(() => answers.length).toBe(1);
  const [first, second] = [await open(), await open()];
  // It has sent a part of a head only.
  first.write("GET / HTTP/1.1\r\n");
  await open();
  await open();
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false, false]);
  // An answered connection is idle again, and the newest of them.
  answers[0]?.end();
  await expect.poll(() => second.destroyed).toBe(true);
  busy.write(head);
  await expect.poll(() => answers.length).toBe(2);
  server.closeAllConnections();
  server.close();
});
