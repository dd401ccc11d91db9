import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChangeLine } from "../../scanner/follow/changes.ts";
import { cleanUp } from "../support/clean_up.ts";
import { startCommand } from "../support/command_line.ts";
import type { ChangePage } from "../support/monitor_client.ts";
import { openOrgStage } from "../support/org_stage.ts";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startTestGateway } from "../support/test_gateway.ts";

/** The command `follow` as a process: its output, its signals, its exit codes, and what a kill leaves. */
async function setUp() {
  const { org, path, env, run } = await openOrgStage({ profile: { name: "compliant" } });
  const follow = ["follow", "--interval", "2"];
  return {
    org,
    path,
    env,
    start: (...args: readonly string[]) => startCommand([...follow, ...args], { cwd: path, env }),
    run: (...args: readonly string[]) => run(...follow, ...args),
  };
}

test("loses no change where the gateway is down and the process is killed with -9: the next one stores them", async () => {
  const { org, path, env } = await setUp();
  const gateway = await startTestGateway();
  cleanUp(() => gateway.stop());
  const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(gateway.url).port) });
  cleanUp(() => network.close());
  const options = {
    cwd: path,
    env: { ...env, SCANSTREAM_URL: `http://127.0.0.1:${network.port}`, SCANSTREAM_API_KEY: gateway.acme.apiKey },
  };
  const start = () => startCommand(["follow", "--interval", "2", "--format", "ndjson"], options);
  const stored = async () => {
    const { items } = await gateway.read<{ readonly items: readonly { readonly id: string }[] }>("/monitors");
    const [{ id } = {}] = items;
    return id === undefined ? [] : (await gateway.read<ChangePage>(`/monitors/${id}/changes?limit=200`)).items;
  };

  network.refuse();
  const first = start();
  await first.until("stderr", /until the gateway answers again/);
  // Before that the change would be part of the first state.
  await first.until("stdout", /"cause":"start"/);
  org.change("fips-off", "dana@practice.example");
  await first.until("stdout", /dana@practice\.example/);
  await first.stop("SIGKILL");
  const second = start();
  org.change("fips-on", "sam@practice.example");
  await second.until("stdout", /sam@practice\.example/);
  await second.stop("SIGKILL");
  expect(await stored()).toEqual([]);

  network.restore();
  const third = start();
  // A line that was printed in the instant of the kill is printed again, with its id.
  const printed = (first.output.stdout + second.output.stdout).trim().split("\n");
  const ids = [...new Set(printed.map((line) => (JSON.parse(line) as ChangeLine).id))];
  await expect.poll(async () => (await stored()).length).toBe(ids.length);
  expect((await stored()).map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await third.stop("SIGINT")).code).toBe(0);
  expect((await stored()).filter(({ cause }) => cause === "log").map(({ to }) => to?.status)).toEqual(["PASS", "FAIL"]);
});

test("while a check fails, an interruption ends it with 130, and --once --until-clean with 1", async () => {
  const { org, run, start } = await setUp();
  org.change("fips-off", "dana@practice.example");
  const running = start("--until-clean");
  await running.until("stdout", /First results/);
  expect((await running.stop()).code).toBe(130);
  expect((await run("--once", "--until-clean")).code).toBe(1);
});

test("exits with 2 beside another follower and for a place that is no directory, and with 3 without a login", async () => {
  const { org, path, run, start } = await setUp();
  expect((await run("--once", "--state", "kept")).code).toBe(0);
  await writeFile(join(path, "file"), "");
  expect((await run("--state", "file/below")).code).toBe(2);
  const first = start("--state", "held");
  await first.until("stdout", /First results/);
  const second = await run("--once", "--state", "held");
  expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/another follower/) as string });
  await first.stop("SIGKILL");
  await org.stop();
  expect((await run("--once", "--state", "new")).code).toBe(3);
});
