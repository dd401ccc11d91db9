import { describe, test } from "vitest";
import { brokerContract, type BrokerCase } from "./broker_contract.ts";
import type { OpenHarness } from "./broker_harness.ts";
import { networkContract } from "./broker_network_contract.ts";

interface DescribeOptions {
  readonly hasNetwork: boolean;
}

/** Runs the whole contract against one adapter, each case with a harness of its own. */
export function describeBroker(name: string, openHarness: OpenHarness, options: DescribeOptions): void {
  const cases: readonly BrokerCase[] = options.hasNetwork ? [...brokerContract, ...networkContract] : brokerContract;
  describe(`${name} broker`, () => {
    for (const { name: title, run } of cases) {
      // Most of the time they wait.
      test.concurrent(title, async () => {
        const harness = await openHarness();
        try {
          await run(harness);
        } finally {
          await harness.close();
        }
      });
    }
  });
}
