import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { attemptDelivery, type AttemptResult, type SendWebhook } from "../../../gateway/features/webhooks/attempt.ts";
import { createWebhookSender } from "../../../gateway/runtime/webhook_sender.ts";
import { createSelfSigned } from "../../support/self_signed.ts";
import { claimedDelivery } from "../../support/webhook_deliveries.ts";
import { startReceiver } from "../../support/webhook_receiver.ts";

const relaxed = { allowPrivate: true };

/** The whole attempt, with the rules that let it reach this machine. */
function attempt(url: string, send: SendWebhook, timeoutMs = 5000): Promise<AttemptResult> {
  const stopped = new AbortController().signal;
  return attemptDelivery(claimedDelivery({ url }), { send, rules: relaxed, nowMs: Date.now, timeoutMs, stopped });
}

const send = createWebhookSender({ rules: relaxed });

/** 127.0.0.1 stands for the internet, 127.0.0.2 for what is private. */
function createSenderWith(answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const sender = createWebhookSender({
    rules: { allowPrivate: false },
    isAllowed: (address) => address === "127.0.0.1",
    async resolve(host) {
      asked.push(host);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    },
  });
  return { sender, asked };
}

describe("a hostile name server", () => {
  test("that answers a public address first and a private one then reaches nothing private: what was checked is connected to", async () => {
    await using open = await startReceiver();
    await using hidden = await startReceiver({ host: "127.0.0.2" });
    const { sender, asked } = createSenderWith([["127.0.0.1"], ["127.0.0.2"]]);
    expect(await attempt(`http://hooks.test:${open.port}/`, sender)).toMatchObject({ kind: "delivered" });
    expect(asked).toEqual(["hooks.test"]);
    expect(open.received[0]?.headers.host).toBe(`hooks.test:${open.port}`);
    const again = await attempt(`http://hooks.test:${hidden.port}/`, sender);
    expect(again).toMatchObject({
      kind: "failed",
      status: null,
      error: expect.stringContaining("private, loopback or reserved"),
    });
    expect(hidden.connections()).toBe(0);
  });

  test("that answers a private address among public ones is refused, whichever comes first", async () => {
    await using open = await startReceiver();
    for (const addresses of [
      ["127.0.0.1", "127.0.0.2"],
      ["127.0.0.2", "127.0.0.1"],
    ]) {
      const { sender } = createSenderWith([addresses]);
      expect(await attempt(`http://hooks.test:${open.port}/`, sender)).toMatchObject({ kind: "failed", status: null });
    }
    expect(open.connections()).toBe(0);
  });

  test("that answers no address, or does not answer, is a failed attempt", async () => {
    const { sender } = createSenderWith([[]]);
    expect(await attempt("http://hooks.test/", sender)).toMatchObject({ error: "The name has no address" });
    const silent = createWebhookSender({ rules: relaxed, resolve: () => new Promise(() => {}) });
    expect(await attempt("http://hooks.test/", silent, 100)).toMatchObject({ error: "No answer within 0.1 s" });
  });
});

test("by default the addresses of this machine are refused, under whatever name", async () => {
  await using receiver = await startReceiver();
  const strict = createWebhookSender({ rules: { allowPrivate: false } });
  for (const host of ["localhost", "127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"]) {
    const result = await attempt(`http://${host}:${receiver.port}/`, strict);
    expect(result, host).toMatchObject({ error: expect.stringContaining("private, loopback or reserved") });
  }
  expect(receiver.connections()).toBe(0);
});

test("an address that cannot be reached is followed by the next one of the name", async () => {
  await using receiver = await startReceiver();
  const sender = createWebhookSender({ rules: relaxed, resolve: async () => ["127.0.0.3", "127.0.0.1"] });
  expect(await attempt(`http://hooks.test:${receiver.port}/`, sender)).toMatchObject({ kind: "delivered" });
});

test.each([301, 302, 303, 307, 308])("a redirect with %i is not followed", async (status) => {
  await using hidden = await startReceiver({ host: "127.0.0.2" });
  await using receiver = await startReceiver({
    answer: (response) => response.writeHead(status, { location: `${hidden.url}/latest/meta-data` }).end(),
  });
  expect(await attempt(receiver.url, send)).toEqual({
    kind: "failed",
    status,
    error: `HTTP ${status}: redirects are not followed`,
  });
  expect(hidden.connections()).toBe(0);
  expect(receiver.received).toHaveLength(1);
});

describe("an answer", () => {
  test("that does not end is read for its first kilobyte, and the connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    await using receiver = await startReceiver({
      answer(response) {
        response.writeHead(500).on("close", () => closed.resolve());
        const write = () => {
          if (!response.destroyed) response.write("x".repeat(65_536), write);
        };
        write();
      },
    });
    const result = await attempt(receiver.url, send, 600_000);
    expect(result).toMatchObject({ kind: "failed", status: 500 });
    expect((result as { error: string }).error.length).toBeLessThanOrEqual(300);
    await closed.promise;
  });

  test("of 2xx counts when its head is there, also when its body never ends", async () => {
    await using receiver = await startReceiver({ answer: (response) => response.writeHead(200).write("…") });
    expect(await attempt(receiver.url, send)).toEqual({ kind: "delivered", status: 200, error: null });
  });

  test("that breaks off in its body keeps its status", async () => {
    await using receiver = await startReceiver({
      answer: (response) => response.writeHead(502, { "content-length": 100 }).write("half", () => response.destroy()),
    });
    expect(await attempt(receiver.url, send)).toMatchObject({ kind: "failed", status: 502 });
  });

  test("that never comes, and one whose head comes byte by byte, end with the time for the whole attempt", async () => {
    await using silent = await startReceiver({ answer: () => {} });
    expect(await attempt(silent.url, send, 100)).toMatchObject({ kind: "failed", error: "No answer within 0.1 s" });
    await using dripping = await startRawServer((socket) => {
      const head = "HTTP/1.1 200 OK\r\nx-filler: ";
      let at = 0;
      const timer = setInterval(() => socket.write(head[at++] ?? "x"), 5);
      socket.on("close", () => clearInterval(timer));
    });
    const startedMs = Date.now();
    expect(await attempt(dripping.url, send, 400)).toMatchObject({ kind: "failed", error: "No answer within 0.4 s" });
    expect(Date.now() - startedMs).toBeLessThan(4000);
  });

  test("with a head that is too large, or that is no HTTP, is a failed attempt that says so", async () => {
    await using large = await startRawServer((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`));
    expect(await attempt(large.url, send)).toMatchObject({ error: expect.stringContaining("its head is too large") });
    await using nonsense = await startRawServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
    expect(await attempt(nonsense.url, send)).toMatchObject({
      kind: "failed",
      error: expect.stringContaining("the response is not HTTP"),
    });
  });
});

describe("TLS", () => {
  test("a certificate is verified for the name in the URL, which is also the name that the server is asked for", async () => {
    const tls = createSelfSigned({ names: ["hooks.test"] });
    await using receiver = await startReceiver({ tls });
    const resolve = async () => ["127.0.0.1"];
    const trusting = createWebhookSender({ rules: relaxed, resolve, ca: tls.cert });
    expect(await attempt(`https://hooks.test:${receiver.port}/`, trusting)).toMatchObject({ kind: "delivered" });
    const other = await attempt(`https://other.test:${receiver.port}/`, trusting);
    expect(other).toMatchObject({ kind: "failed", error: expect.stringContaining("the certificate is not trusted") });
    const unknown = await attempt(
      `https://hooks.test:${receiver.port}/`,
      createWebhookSender({ rules: relaxed, resolve }),
    );
    expect(unknown).toMatchObject({ kind: "failed", error: expect.stringContaining("the certificate is not trusted") });
    expect(receiver.received).toHaveLength(1);
  });

  test("a server without TLS is a failed attempt", async () => {
    await using receiver = await startReceiver();
    const result = await attempt(receiver.url.replace("http:", "https:"), send);
    expect(result).toMatchObject({ kind: "failed", status: null });
    expect(receiver.received).toHaveLength(0);
  });
});

test("a connection that is refused, and a name that does not exist, are named", async () => {
  const { port } = await usedPort();
  expect(await attempt(`http://127.0.0.1:${port}/`, send)).toMatchObject({
    error: "The request failed: the connection was refused",
  });
  expect(await attempt("http://no-such-host.invalid/", send)).toMatchObject({
    error: "The request failed: the host name does not resolve",
  });
});

async function startRawServer(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => onConnection(socket));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A port that nobody listens on any more. */
async function usedPort() {
  await using receiver = await startReceiver();
  return { port: receiver.port };
}
