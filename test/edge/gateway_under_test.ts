import { describe, test } from "vitest";
import { toChannelKey } from "../../shared/brokers/channel_key.ts";
import { missingNeeds, type GatewayCase, type GatewayUnderTest, type Need } from "../contract/harness.ts";
import { listedOrigin, type EdgeBackends } from "../support/edge_backends.ts";

/** Bounds that a suite of seconds can meet. */
export const smallBounds = {
  EVENTSTREAM_HEARTBEAT_SECONDS: "1",
  EVENTSTREAM_RECHECK_SECONDS: "2",
  EVENTSTREAM_MAX_BUFFER_BYTES: "262144",
  EVENTSTREAM_MAX_STREAMS_PER_TENANT: "60",
} as const;

const brokerDatabase = 2;

/** Any gateway over these backends that was started with these bounds. */
export async function toGatewayUnderTest(
  backends: EdgeBackends,
  url: string,
  bounds: Readonly<Record<keyof typeof smallBounds, string>> = smallBounds,
): Promise<GatewayUnderTest> {
  const tenant = await backends.createTenant("Acme");
  const stranger = await backends.createTenant("Globex");
  const key = (channel: string) => toChannelKey(brokerDatabase, channel);
  return {
    url,
    tenant,
    strangerApiKey: stranger.apiKey,
    origin: listedOrigin,
    seesHeadersAsSent: true,
    control: {
      heartbeatSeconds: Number(bounds.EVENTSTREAM_HEARTBEAT_SECONDS),
      recheckSeconds: Number(bounds.EVENTSTREAM_RECHECK_SECONDS),
      maxBufferBytes: Number(bounds.EVENTSTREAM_MAX_BUFFER_BYTES),
      maxStreamsPerTenant: Number(bounds.EVENTSTREAM_MAX_STREAMS_PER_TENANT),
      createTenant: (name) => backends.createTenant(name),
      sign: (claims, lifetimeSeconds) => backends.sign(claims, lifetimeSeconds),
      revokeApiKey: (id) => backends.revokeApiKey(id),
      addUser: (tenantId, sub, role) => backends.addUser(tenantId, sub, role),
      removeUser: (tenantId, sub) => backends.removeUser(tenantId, sub),
      setScopes: (apiKeyId, scopes) => backends.setScopes(apiKeyId, scopes),
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

/** The cases that a runtime can meet: what it cannot is named where the runtime is, and nowhere skipped in silence. */
export function casesWithout(cases: readonly GatewayCase[], need: Need): readonly GatewayCase[] {
  return cases.filter(({ needs }) => !needs.includes(need));
}

/** One test for each case; those that disturb the others come last, one by one. */
export function describeGateway(name: string, cases: readonly GatewayCase[], gatewayOf: () => GatewayUnderTest): void {
  const run = async (one: GatewayCase) => {
    const missing = missingNeeds(gatewayOf(), one);
    if (missing.length > 0) throw new Error(`Cannot run the case: the gateway has no ${missing.join(", ")}`);
    await one.run(gatewayOf());
  };
  describe(name, () => {
    for (const one of cases.filter(({ isAlone }) => isAlone !== true)) test.concurrent(one.name, () => run(one));
    for (const one of cases.filter(({ isAlone }) => isAlone === true)) test(one.name, () => run(one));
  });
}
