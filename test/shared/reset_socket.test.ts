import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { resetSocket } from "../../shared/reset_socket.ts";

describe("a connection that is reset", () => {
  test("while its own end goes out is closed", async () => {
    const { ours, received } = await connected();
    ours.write("last");
    ours.end();
    resetSocket(ours);
    await once(ours, "close", { signal: AbortSignal.timeout(5000) });
    await expect.poll(received).toMatch(/^last/);
  });

  test("after its end went out is closed", async () => {
    const { ours } = await connected({ keepsOpen: true });
    ours.end("last");
    await once(ours, "finish");
    resetSocket(ours);
    await once(ours, "close", { signal: AbortSignal.timeout(5000) });
  });

  test("while its client does not read what came before the end is closed with a reset", async () => {
    const { ours, theirs, fate } = await connected();
    theirs.pause();
    ours.end(Buffer.alloc(30_000_000));
    resetSocket(ours);
    await once(ours, "close", { signal: AbortSignal.timeout(5000) });
    theirs.resume();
    expect(await fate).toBe("ECONNRESET");
  });

  test("while it is open is closed with a reset", async () => {
    const { ours, fate } = await connected();
    resetSocket(ours);
    await once(ours, "close", { signal: AbortSignal.timeout(5000) });
    expect(await fate).toBe("ECONNRESET");
  });
});

const opened = new Set<Socket>();
afterEach(() => {
  for (const socket of opened) socket.destroy();
  opened.clear();
});

/** Both sides of a connection; `fate`: the error that the other side hears, or `end`. */
async function connected({ keepsOpen = false } = {}) {
  const server = createServer({ allowHalfOpen: keepsOpen });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const theirs = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: keepsOpen });
  const [ours] = (await once(server, "connection")) as [Socket];
  for (const socket of [ours, theirs]) opened.add(socket.on("error", () => undefined));
  let text = "";
  theirs.on("data", (bytes: Buffer) => (text += bytes.toString("latin1", 0, 10)));
  const fate = new Promise<string>((resolve) => {
    theirs.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    theirs.once("end", () => resolve("end"));
  });
  return { ours, theirs, fate, received: () => text };
}
