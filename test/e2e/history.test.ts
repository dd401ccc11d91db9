import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Exposure, History, RuleHistory } from "../../shared/schemas/history.ts";
import { callCommand } from "../support/called_command.ts";
import { startCommand } from "../support/command_line.ts";
import { writeKeyPair } from "../support/key_pair.ts";
import { openOrgStage } from "../support/org_stage.ts";
import { openTestGateway } from "../support/test_gateway.ts";

/** History of a gateway, and of the files that a follower and a scan wrote. */

const fips = "authenticator_okta_verify_fips_compliant";
const { org, path, env: ofOrg } = await openOrgStage({ profile: { name: "compliant" } });
const env = { ...ofOrg, ...(await openTestGateway()).env };

const run = (...args: readonly string[]) => callCommand(args, { cwd: path, env });

async function historyOf(...args: readonly string[]): Promise<RuleHistory> {
  const { stdout, stderr } = await run("history", "--rule", "V-273205", "--format", "json", "--days", "2", ...args);
  const history = JSON.parse(stdout === "" ? JSON.stringify(stderr) : stdout) as History;
  const rule = history.organizations[0]?.rules.find(({ check }) => check === fips);
  if (rule === undefined) throw new TypeError(`there is no history of ${fips}: ${stdout}${stderr}`);
  return rule;
}

/** Verdicts alone: how often a follower reports to its gateway makes no difference. */
function verdictsOf({ intervals }: RuleHistory): readonly string[] {
  const known = intervals.map(({ status }) => status).filter((status) => status !== "UNKNOWN");
  return known.filter((status, index) => status !== known[index - 1]);
}

function exposureOf({ opened, closed, actor, cause }: Exposure) {
  return { opened: opened.known_at, closed: closed?.known_at, by: actor?.login, closedBy: closed?.actor?.login, cause };
}

test("a gateway and the files of follow and scan tell one history; the file and the history are signed", async () => {
  await writeKeyPair(join(path, "key"));
  const follow = ["follow", "--interval", "2", "--output", "saved/changes.ndjson", "--sign", "key"];
  const follower = startCommand(follow, { cwd: path, env });
  await follower.until("stdout", /First results: \d+ findings/);
  org.change("fips-off", "dana@practice.example");
  await follower.until("stdout", /PASS → FAIL {2}V-273205/);
  org.change("fips-on", "sam@practice.example");
  await follower.until("stdout", /FAIL → PASS {2}V-273205/);
  expect(await follower.stop("SIGTERM")).toMatchObject({ code: 0 });
  org.change("fips-off", "dana@practice.example");
  expect((await run(...follow, "--once")).code).toBe(0);
  expect((await run("scan", "--format", "json", "--output", "saved/scan", "--fail-on", "never")).code).toBe(0);

  const lines = (await readFile(join(path, "saved/changes.ndjson"), "utf8")).trim().split("\n");
  const written = lines.map((line) => JSON.parse(line) as Record<string, string>);
  const watched = written.find(({ schema }) => schema === "scanstream.watch/1");
  expect(Object.keys(watched ?? {}).toSorted()).toEqual(["from", "monitor_id", "org_url", "schema", "to"]);
  expect(await run("verify", "saved/changes.ndjson", "--key", "key.pub")).toMatchObject({ code: 0 });

  const [saved, kept] = [await historyOf("--from-reports", "saved"), await historyOf()];
  expect(verdictsOf(saved).slice(0, 2)).toEqual(["PASS", "FAIL"]);
  expect(saved.exposures.map(exposureOf)).toMatchObject([
    { by: "dana@practice.example", closedBy: "sam@practice.example", cause: "log" },
    { by: "dana@practice.example", cause: "log" },
  ]);
  expect(saved.exposures[1]?.opened.not_before, "nobody looked between the two followers").toBe(watched?.["to"]);
  expect(verdictsOf(kept).slice(0, 2)).toEqual(["PASS", "FAIL"]);
  expect(kept.exposures.map(exposureOf)).toEqual(saved.exposures.map(exposureOf));

  expect(await run("history", "--format", "json,csv", "--output", "history", "--sign", "key")).toMatchObject({
    code: 0,
  });
  const whole = JSON.parse(await readFile(join(path, "history/history.json"), "utf8")) as History;
  const numbers = whole.organizations[0]?.rules.map(({ vuln_id: number }) => number);
  expect(numbers).toEqual(numbers?.toSorted());
  expect(await run("verify", "history", "--key", "key.pub", "--org-url", org.url)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/history.json: a history of http:/) as string,
  });
  await writeFile(join(path, "history/history.json"), "{}");
  expect(await run("verify", "history", "--key", "key.pub")).toMatchObject({ code: 1 });
});
