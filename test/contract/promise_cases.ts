import { promises } from "../../gateway/library/contract.ts";
import { createScan, type GatewayCases, type GatewayUnderTest } from "./harness.ts";

/** Promises that `runContract` tests of anybody's gateway, but S7: these gateways are still needed. */
export const promiseCases: GatewayCases = Object.fromEntries(
  promises
    .filter(([, , needs]) => needs !== "stop")
    .map(([name, run]) => [name, async (gateway) => run(await contextOf(gateway))]),
);

/** With tenants of their own: S4 revokes a key. */
async function contextOf({ url, control }: GatewayUnderTest): Promise<Parameters<(typeof promises)[number][1]>[0]> {
  const [own, other] = [await control.createTenant("Own"), await control.createTenant("Other")];
  return {
    gateway: {
      url,
      async createResource(apiKey) {
        const { channel, event_stream: path } = await createScan({ url }, { apiKey });
        return { channel, path };
      },
    },
    keys: { own: own.apiKey, other: other.apiKey },
    revoke: () => control.revokeApiKey(other.apiKeyId),
  };
}
