import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCommandOrg } from "../support/org_stage.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

/** Preloaded into the command: records where each socket connects, and lets it connect to nothing but `ALLOWED`. */
const guard = `
  import { appendFileSync } from "node:fs";
  import { Socket } from "node:net";
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (...args) {
    const [options] = Array.isArray(args[0]) ? args[0] : args;
    const destination = \`\${options.host ?? options.path}:\${options.port}\`;
    appendFileSync("connections.txt", destination + "\\n");
    if (destination !== process.env.ALLOWED) throw new Error("The network is blocked");
    return connect.apply(this, args);
  };
`;

test("scan connects to its organization and to nothing else", async () => {
  await using folder = await temporaryFolder();
  await using org = await startCommandOrg(folder.path);
  await writeFile(join(folder.path, "guard.mjs"), guard);
  const { host: ALLOWED } = new URL(org.env["IDP_ORG_URL"] ?? "");
  const env = { ...org.env, ALLOWED, NODE_OPTIONS: "--import=./guard.mjs" };
  const scan = ["scan", "--format", "all", "--output", "report", "--fail-on", "never"];
  const { code, stderr } = await runCommand(scan, { cwd: folder.path, env });
  expect(code, stderr).toBe(0);
  const connections = (await readFile(join(folder.path, "connections.txt"), "utf8")).trim().split("\n");
  expect([...new Set(connections)]).toEqual([ALLOWED]);
});
