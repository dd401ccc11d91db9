import { describe, expect, test } from "vitest";
import { channelKeys } from "../../shared/brokers/channel_key.ts";
import { call, createScan, keyOf, openStream, type GatewayCases } from "../contract/harness.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { startDenoGateway, startNodeGateway, startWranglerDev, type ServerProcess } from "../support/server_process.ts";

export type Runtime = "Node" | "Deno" | "Workers";

type Variables = Readonly<Record<string, string>>;

/** Bounds that a suite of seconds can meet. On a busy machine a recheck takes seconds, too, and streams close after two without one. */
export const smallBounds = {
  EVENTSTREAM_HEARTBEAT_SECONDS: "1",
  EVENTSTREAM_RECHECK_SECONDS: "8",
  EVENTSTREAM_MAX_BUFFER_BYTES: "262144",
  EVENTSTREAM_MAX_STREAMS_PER_TENANT: "32",
} as const;

const brokerDatabase = 2;

export type EdgeGateway = Awaited<ReturnType<typeof startEdgeGateway>>;

/** A gateway that runs as it is deployed, over real servers, with breakable networks between. */
export async function startEdgeGateway(runtime: Runtime, bounds: Variables = smallBounds) {
  const backends = await startEdgeBackends();
  const { url, output, stop } = await startOn(runtime, backends, bounds);
  const brokerNetwork = runtime === "Workers" ? backends.bridgeNetwork : backends.redisNetwork;
  const databaseNetwork = runtime === "Workers" ? backends.neonNetwork : backends.databaseNetwork;
  const stranger = await backends.createTenant("Globex");
  const key = channelKeys(brokerDatabase);
  return {
    url,
    backends,
    /** To Redis over TCP; on Workers to Upstash's REST. */
    brokerNetwork,
    /** To PostgreSQL over TCP; on Workers to Neon's HTTP. */
    databaseNetwork,
    /** Everything that it said. */
    output: () => output.stdout + output.stderr,
    tenant: await backends.createTenant("Acme"),
    strangerApiKey: stranger.apiKey,
    control: {
      ...backends,
      maxStreamsPerTenant: Number(bounds["EVENTSTREAM_MAX_STREAMS_PER_TENANT"]),
      async publishRaw(channel: string, message: string) {
        await backends.redis.command("PUBLISH", key(channel), message);
      },
      async subscriptionCount(channel: string) {
        const answer = await backends.redis.command("PUBSUB", "NUMSUB", key(channel));
        return Array.isArray(answer) ? Number(answer[1]) : Number.NaN;
      },
    },
    async close() {
      for (const network of [brokerNetwork, databaseNetwork]) network.restore();
      await stop();
      await backends.close();
    },
  };
}

function startOn(runtime: Runtime, backends: EdgeBackends, bounds: Variables): Promise<ServerProcess> {
  if (runtime === "Workers") return startWranglerDev({ environment: { ...backends.workerEnvironment, ...bounds } });
  const environment = { ...backends.processEnvironment, ...bounds };
  return runtime === "Node" ? startNodeGateway(environment) : startDenoGateway(environment);
}

/** Defines a test for each case, and one for the log that they left. */
export function describeGateway(name: string, cases: GatewayCases, gateway: EdgeGateway): void {
  describe(name, () => {
    for (const [name, run] of Object.entries(cases)) test.concurrent(name, () => run(gateway));
  });

  test("S9: no secret reached the log, and nothing failed unseen", () => {
    const output = gateway.output();
    expect(output).toContain('"route":"/api/v1/scans/:id/event-stream"');
    expect(output).not.toMatch(/uncaught|a request failed|could not be/i);
    for (const secret of gateway.backends.secrets) expect(output).not.toContain(secret);
  });
}

/** Tests how a second gateway over the same servers stops. */
export function testLeaving(
  gateway: EdgeGateway,
  start: (environment: Variables) => Promise<ServerProcess>,
  until: "its time has passed" | "a second signal",
): void {
  test(`S7: after SIGTERM it says that it is not ready for DRAIN_DELAY_SECONDS, and serves on, until ${until}`, async () => {
    const { backends, tenant } = gateway;
    const seconds = until === "a second signal" ? "600" : "15";
    const leaving = await start({ ...backends.processEnvironment, ...smallBounds, DRAIN_DELAY_SECONDS: seconds });
    const there = { ...gateway, url: leaving.url };
    const open = async () => openStream(there, (await createScan(there)).event_stream, keyOf(tenant));
    const ready = () => call(leaving, "/readyz", { headers: { connection: "close" } });
    const early = await open();
    leaving.process.stderr?.destroy(); // Whoever reads its log is gone.
    void leaving.stop();
    await expect.poll(async () => (await ready()).status).toBe(503);
    expect(await (await ready()).json()).toMatchObject({ checks: { database: "ok", broker: "ok", draining: true } });
    expect((await call(leaving, "/healthz")).status).toBe(200);
    const late = await open();
    expect((await ready()).status).toBe(503);
    const stopped = until === "a second signal" ? leaving.stop() : leaving.finished;
    for (const stream of [early, late]) expect(await stream.untilEnd()).toMatch(/retry: \d{4}\n: close drain\n $/);
    expect((await stopped).code).toBe(0);
    await expect(call(leaving, "/healthz")).rejects.toThrow();
  });
}
