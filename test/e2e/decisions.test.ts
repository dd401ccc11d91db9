import { callCommand } from "../support/called_command.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Outcome } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { openOrgStage, type OrgStage } from "../support/org_stage.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** Decisions that are kept at a gateway, counted by a scan and offline. */

const check = "signon_global_session_idle_timeout_15min";

let stage: OrgStage;
let gateway: TestGateway;
beforeAll(async () => {
  [stage, gateway] = await Promise.all([openOrgStage(), startTestGateway()]);
});
afterAll(() => Promise.all([stage[Symbol.asyncDispose](), gateway.stop()]));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  callCommand(args, { cwd: stage.path, env: { ...stage.env, ...gateway.env, ...env } });
const scan = (...args: readonly string[]) => run(["scan", "--check", check, "--quiet", "--status", "fail", ...args]);

async function waive(more: object = {}): Promise<{ readonly withdraw: () => Promise<void> }> {
  const json = { kind: "waiver", check, reason: "Moves in January", expires: "never", ...more };
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const { id } = (await (await gateway.request("/api/v1/decisions", { as, json })).json()) as { readonly id: string };
  const withdraw = { method: "DELETE", as };
  return { withdraw: async () => void (await gateway.request(`/api/v1/decisions/${id}`, withdraw)) };
}

test("a waiver is counted by a scan and offline, until it is withdrawn", async () => {
  expect((await scan("--save-artifacts", "evidence.json")).code).toBe(1);
  const { withdraw } = await waive({ expires: "2099-01-31", org_url: stage.env["IDP_ORG_URL"] });

  const waived = await scan("--decisions-from-gateway");
  expect([waived.code, waived.stderr]).toEqual([0, ""]);
  expect(waived.stdout.replaceAll(/\s+/g, " ")).toContain(
    "waived by test (gateway) until 2099-01-31: Moves in January",
  );
  expect((await run(["evaluate", "--from-artifacts", "evidence.json", "--decisions-from-gateway"])).code).toBe(0);

  await withdraw();
  expect((await scan("--decisions-from-gateway")).code).toBe(1);
});

test("without the decisions that were asked for nothing is scanned: 2, one line, no report", async () => {
  const env = { ...gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` };
  const gone = await run(["scan", "--check", check, "--no-stream", "--decisions-from-gateway"], env);
  expect([gone.code, gone.stdout]).toEqual([2, ""]);
  expect(gone.stderr).toMatch(/^Cannot use --decisions-from-gateway: [^\n]*the connection was refused[^\n]*\n$/);
  const unnamed = await stage.run("scan", "--check", check, "--decisions-from-gateway");
  expect([unnamed.code, unnamed.stdout]).toEqual([2, ""]);
  expect(unnamed.stderr).toMatch(/SCANSTREAM_URL and SCANSTREAM_API_KEY are not set/);
});
