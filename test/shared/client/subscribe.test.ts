import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { denoProgram } from "../../support/runtime_programs.ts";
import { frame, problem, startScriptedServer, status, stream } from "../../support/scripted_server.ts";
import { subscribeCases } from "./subscribe_cases.ts";

describe("subscribe on Node", () => {
  for (const [name, run] of Object.entries(subscribeCases)) test(name, run);

  test("leaves nothing behind that keeps the process alive", async () => {
    await using server = await startScriptedServer(status(204), stream(frame("scan.start", {})), problem(403, "No"));
    const script = `
      import { subscribe } from ${JSON.stringify(new URL("../../../shared/client/subscribe.ts", import.meta.url).href)};
      const url = ${JSON.stringify(server.url)};
      const longTimeouts = { heartbeatMs: 600_000, connectTimeoutMs: 600_000, refetchTimeoutMs: 600_000 };
      console.log((await subscribe(url, longTimeouts).finished).state);
      const live = subscribe(url, { ...longTimeouts, onEvent: () => live.close() });
      console.log((await live.finished).state);
      console.log((await subscribe(url, longTimeouts).finished).state);
    `;
    const { exitCode, output } = await run(process.execPath, ["--input-type=module", "--eval", script]);
    expect(output).toBe("ended\nclosed\nfailed\n");
    expect(exitCode).toBe(0);
  });
});

test("subscribe keeps the same promises on Deno", async () => {
  const runner = fileURLToPath(new URL("subscribe_cases.deno.ts", import.meta.url));
  const { exitCode, output } = await run(denoProgram(), ["test", "--no-check", "--allow-all", runner]);
  expect(output).toContain(`${Object.keys(subscribeCases).length} passed | 0 failed`);
  expect(exitCode).toBe(0);
});

function run(command: string, args: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, NO_COLOR: "1" } });
    let output = "";
    const collect = (bytes: Buffer) => {
      output += bytes.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output }));
  });
}
