import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { denoProgram } from "../../support/runtime_programs.ts";
import { frame, problem, startScriptedServer, status, stream } from "../../support/scripted_server.ts";
import { subscribeCases } from "./subscribe_cases.ts";

const run = promisify(execFile);

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
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script]);
    expect(stdout).toBe("ended\nclosed\nfailed\n");
  });
});

test("subscribe keeps the same promises on Deno", async () => {
  const runner = fileURLToPath(new URL("subscribe_cases.deno.ts", import.meta.url));
  const env = { ...process.env, NO_COLOR: "1" };
  const { stdout } = await run(denoProgram(), ["test", "--no-check", "--allow-all", runner], { env });
  expect(stdout).toContain(`${Object.keys(subscribeCases).length} passed | 0 failed`);
});
