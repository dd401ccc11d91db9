import { createSocket, type RemoteInfo } from "node:dgram";
import { lookup } from "node:dns/promises";
import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolveName } from "../../../gateway/runtime/resolve_name.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "hosts-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const never = new AbortController().signal;

/** Answers by the type that is asked for, 1 is A and 28 is AAAA; null: never. */
async function startNameServer(answer: ((type: number) => readonly number[][]) | null) {
  const socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", (query: Buffer, from: RemoteInfo) => {
    asked += 1;
    if (answer === null) return;
    const questionEnd = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(questionEnd - 4);
    const records = answer(type).map((address) =>
      Buffer.concat([Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]), Buffer.from(address)]),
    );
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([head, query.subarray(12, questionEnd), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    nameServers: [`127.0.0.1:${socket.address().port}`],
    asked: () => asked,
    [Symbol.dispose]: () => socket.close(),
  };
}

test("names that no server answers hold none of the threads that the gateway's own names need", async () => {
  using silent = await startNameServer(null);
  const abort = new AbortController();
  const { nameServers } = silent;
  const names = Array.from({ length: 40 }, (_, n) => resolveName(`never${n}.example`, abort.signal, { nameServers }));
  await expect.poll(silent.asked).toBeGreaterThanOrEqual(80);
  const startedMs = performance.now();
  expect((await lookup("127.0.0.1")).address).toBe("127.0.0.1");
  await lookup("localhost");
  expect(performance.now() - startedMs).toBeLessThan(1000);
  abort.abort(new Error("The attempt is over"));
  for (const name of names) await expect(name).rejects.toThrow("The attempt is over");
  expect(performance.now() - startedMs).toBeLessThan(1500);
});

test("a name server that is silent ends the attempt by itself, also where nobody cancels it", async () => {
  using silent = await startNameServer(null);
  const { nameServers } = silent;
  await expect(resolveName("never.example", never, { nameServers })).rejects.toThrow(/ETIMEOUT/);
});

test("IPv4 comes first, and one kind of address is enough", async () => {
  const six = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  using both = await startNameServer((type) =>
    type === 28
      ? [six]
      : [
          [192, 0, 2, 1],
          [192, 0, 2, 2],
        ],
  );
  expect(await resolveName("hooks.example", never, both)).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
  using onlySix = await startNameServer((type) => (type === 28 ? [six] : []));
  expect(await resolveName("hooks.example", never, onlySix)).toEqual(["2001:db8::1"]);
  using none = await startNameServer(() => []);
  await expect(resolveName("hooks.example", never, none)).rejects.toThrow("ENODATA");
});

test("an address is itself, and the hosts file and localhost are known without a name server", async () => {
  using silent = await startNameServer(null);
  const hostsFile = join(directory, "hosts");
  await writeFile(
    hostsFile,
    "# local\n::1 receiver\n127.0.0.5\tReceiver hooks.internal # ours\nnonsense hooks.internal\n",
  );
  const options = { nameServers: silent.nameServers, hostsFile };
  expect(await resolveName("203.0.113.7", never, options)).toEqual(["203.0.113.7"]);
  expect(await resolveName("::1", never, options)).toEqual(["::1"]);
  expect(await resolveName("receiver", never, options)).toEqual(["127.0.0.5", "::1"]);
  expect(await resolveName("HOOKS.internal.", never, options)).toEqual(["127.0.0.5"]);
  expect(await resolveName("a.localhost", never, { ...options, hostsFile: "/nonexistent" })).toEqual([
    "127.0.0.1",
    "::1",
  ]);
  expect(silent.asked()).toBe(0);
});
