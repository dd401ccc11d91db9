import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { networkContract } from "../../broker_contract/broker_network_contract.ts";
import { denoProgram } from "../../support/runtime_programs.ts";

const script = fileURLToPath(new URL("../../broker_contract/broker_contract_deno.ts", import.meta.url));

test("the adapters that open connections keep the contract on Deno", async () => {
  const args = ["run", "--allow-all", "--no-prompt", script];
  const { stdout } = await promisify(execFile)(denoProgram(), args, {
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 10_000_000,
  });
  const lines = stdout.trim().split("\n");
  expect(lines.filter((line) => !line.startsWith("ok "))).toEqual([]);
  expect(lines.length).toBeGreaterThan(2 * Object.keys(networkContract).length);
});
