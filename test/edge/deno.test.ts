import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { denoContract } from "../contract/contract.ts";
import {
  call,
  refused,
  createScan,
  eventually,
  keyOf,
  openStream,
  openStuckReader,
  send,
} from "../contract/harness.ts";
import { denoProgram } from "../support/runtime_programs.ts";
import { startDenoGateway } from "../support/server_process.ts";
import { describeGateway, smallBounds, startEdgeGateway, testLeaving } from "./edge_gateway.ts";

const gateway = await startEdgeGateway("Deno");
afterAll(() => gateway.close());

/** Another one over the same servers. */
const startOther = (environment: Readonly<Record<string, string>>) =>
  startDenoGateway({ ...gateway.backends.processEnvironment, ...smallBounds, ...environment });

describeGateway("the gateway on Deno", denoContract, gateway);

// `Deno.serve` cannot close its connection: the proxy's time-out does.
test("S6: a reader that reads nothing is closed, its place is free once it has left, and it holds no stop up", async () => {
  const small = await startOther({ EVENTSTREAM_MAX_STREAMS_PER_TENANT: "2" });
  const there = { ...gateway, url: small.url };
  const scan = await createScan(there);
  const as = keyOf(there.tenant);
  const stuck = await Promise.all([1, 2].map(() => openStuckReader(there, scan.event_stream, as)));
  const closed = async () => (await (await fetch(`${small.url}/metrics`)).text()).includes('reason="slow"} 2');
  const filler = "x".repeat(60_000);
  await eventually(async () => {
    for (let n = 0; n < 4; n += 1) await send(there, scan, { type: "scan.progress", data: { filler } });
    return closed();
  }, "both are closed as slow");
  // Three seconds and more: longer than what their last bytes may take.
  const other = await there.control.createTenant("Initech");
  const bystander = await openStream(there, (await createScan(there, other)).event_stream, keyOf(other));
  await bystander.until(/(?:: heartbeat[^]*){4}/);
  await refused(await call(there, scan.event_stream, { as }), 429);
  stuck[0]?.destroy();
  await eventually(async () => {
    const again = await call(there, scan.event_stream, { as });
    await again.body?.cancel();
    return again.status === 200;
  }, "its place is free");
  expect((await small.stop()).code).toBe(0);
});

test("S6: between the turns of tenants who wait, all sockets are read", async () => {
  const script = `
    import { connect, createServer } from "node:net";
    import { afterReading } from "${new URL("../../gateway/turns.ts", import.meta.url)}";
    let [turns, echoes] = [0, 0];
    const takeTurn = () => {
      turns += 1;
      for (const startMs = performance.now(); performance.now() < startMs + 1;);
      afterReading(takeTurn);
    };
    createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1", function () {
      const socket = connect(this.address().port, "127.0.0.1", takeTurn);
      socket.on("data", () => {
        echoes += 1;
        if (echoes < 20) return void socket.write(".");
        console.log(turns / echoes);
        Deno.exit();
      });
      socket.write(".");
    });`;
  const { stdout } = await promisify(execFile)(denoProgram(), ["eval", script]);
  expect(Number(stdout)).toBeLessThan(10);
});

testLeaving(gateway, startDenoGateway, "a second signal");

test("an address that it cannot listen on ends it with 2 and the variable's name", async () => {
  const wrong: readonly (readonly [environment: Readonly<Record<string, string>>, problem: RegExp])[] = [
    [{ PORT: new URL(gateway.url).port }, /: PORT: expected a free port/],
    [{ HOST: "gateway.invalid" }, /: HOST: expected an address of this machine/],
  ];
  for (const [environment, problem] of wrong) {
    const refused = startOther(environment);
    await expect(refused).rejects.toThrow(/ended with 2/);
    await expect(refused).rejects.toThrow(problem);
  }
});
