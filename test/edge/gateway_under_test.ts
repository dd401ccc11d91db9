import { describe, test } from "vitest";
import { toChannelKey } from "../../shared/brokers/channel_key.ts";
import type { GatewayCase, GatewayUnderTest } from "../contract/harness.ts";
import type { EdgeBackends } from "../support/edge_backends.ts";

/** Bounds that a suite of seconds can meet. */
export const smallBounds = {
  EVENTSTREAM_HEARTBEAT_SECONDS: "1",
  EVENTSTREAM_RECHECK_SECONDS: "2",
  EVENTSTREAM_MAX_BUFFER_BYTES: "262144",
  EVENTSTREAM_MAX_STREAMS_PER_TENANT: "60",
} as const;

const brokerDatabase = 2;

/** Any gateway over these backends that was started with `smallBounds`. */
export async function toGatewayUnderTest(backends: EdgeBackends, url: string): Promise<GatewayUnderTest> {
  const tenant = await backends.createTenant("Acme");
  const stranger = await backends.createTenant("Globex");
  const key = (channel: string) => toChannelKey(brokerDatabase, channel);
  return {
    url,
    tenant,
    strangerApiKey: stranger.apiKey,
    control: {
      ...backends,
      maxStreamsPerTenant: Number(smallBounds.EVENTSTREAM_MAX_STREAMS_PER_TENANT),
      async publishRaw(channel, message) {
        await backends.redis.command("PUBLISH", key(channel), message);
      },
      async subscriptionCount(channel) {
        const answer = await backends.redis.command("PUBSUB", "NUMSUB", key(channel));
        return Array.isArray(answer) ? Number(answer[1]) : Number.NaN;
      },
      cutBroker() {
        backends.bridgeNetwork.cut();
        backends.redisNetwork.cut();
      },
    },
  };
}

/** One test for each case; those that disturb the others come last, one by one. */
export function describeGateway(name: string, cases: readonly GatewayCase[], gatewayOf: () => GatewayUnderTest): void {
  describe(name, () => {
    for (const one of cases.filter(({ isAlone }) => isAlone !== true))
      test.concurrent(one.name, () => one.run(gatewayOf()));
    for (const one of cases.filter(({ isAlone }) => isAlone === true)) test(one.name, () => one.run(gatewayOf()));
  });
}
