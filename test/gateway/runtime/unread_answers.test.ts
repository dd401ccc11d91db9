import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Budget } from "../../../gateway/http/budget.ts";
import { UnreadAnswers } from "../../../gateway/runtime/unread_answers.ts";

const mebibyte = 1_048_576;

/** Answers every request with so much at once, as the holder that its path names. */
async function startAnswering(bytes: number, maxSilenceMs: number) {
  const bounds = { requests: 100, bodyBytes: mebibyte, responseBytes: 64 * mebibyte };
  const unread = new UnreadAnswers(new Budget(bounds), maxSilenceMs);
  const server = createServer((incoming, outgoing) => {
    outgoing.end(Buffer.alloc(bytes));
    unread.watch(outgoing, incoming.url ?? "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    async ask(holder: string): Promise<Socket> {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      socket.write(`GET ${holder} HTTP/1.1\r\nhost: gateway\r\n\r\n`);
      return socket;
    },
    connections: () => new Promise<number>((done) => server.getConnections((_error, count) => done(count))),
  };
}

test("closes an answer of which nothing is read", async () => {
  const { ask, connections } = await startAnswering(32 * mebibyte, 1000);
  await ask("/silent");
  await expect.poll(connections).toBe(0);
});

test("closes answers of a tenant whose unread bytes are over its share, and nobody else's", async () => {
  const { ask, connections } = await startAnswering(8 * mebibyte, 60_000);
  await ask("/victim");
  // 80 % of 64 MiB are six of them, five where another has one.
  for (let n = 0; n < 12; n += 1) await ask("/attacker");
  await expect.poll(connections).toBeLessThan(8);
  const victim = await ask("/victim");
  victim.resume();
  const [first] = (await once(victim, "data")) as [Buffer];
  expect(first.toString("latin1", 0, 15)).toBe("HTTP/1.1 200 OK");
});
