import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { inTurn } from "../../../gateway/runtime/in_turn.ts";

async function startServer(listener: (outgoing: ServerResponse) => void) {
  const server = createServer(inTurn((_incoming, outgoing) => listener(outgoing)));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let parsed = 0;
  server.on("request", () => (parsed += 1));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    parsed: () => parsed,
    async send(requests: number) {
      const socket = Object.assign(connect(port, "127.0.0.1"), { text: "" });
      onTestFinished(() => void socket.destroy());
      socket.on("data", (chunk: Buffer) => (socket.text += chunk.toString("latin1"))).on("error", () => undefined);
      await once(socket, "connect");
      socket.write("GET / HTTP/1.1\r\nhost: gateway\r\n\r\n".repeat(requests));
      return socket;
    },
  };
}

test("one request of a connection is answered at a time, and seventeen are answered", async () => {
  const answers: ServerResponse[] = [];
  const { send } = await startServer((outgoing) => void answers.push(outgoing));
  const socket = await send(17);
  for (let answered = 0; answered < 17; answered += 1) {
    await expect.poll(() => answers.length).toBe(answered + 1);
    answers[answered]?.end();
  }
  await expect.poll(() => socket.text.match(/HTTP\/1\.1 200/g)).toHaveLength(17);
});

test("the flood of a connection is not even parsed beyond the one that ends it", async () => {
  const { send, parsed } = await startServer(() => undefined);
  const socket = await send(400);
  await expect.poll(() => socket.destroyed).toBe(true);
  // One that is answered, sixteen that wait, and the one too many.
  expect(parsed()).toBe(18);
});
