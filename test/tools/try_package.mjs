// Uses an installed package as its user would, on any Node that `engines` allows: `node try_package.mjs` in the folder where the
// tarball was installed. Exit code 0 when all of it worked. It imports nothing, and is no TypeScript, because the oldest Node runs it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const [name] = Object.keys(manifest.dependencies);
const program = join("node_modules", name, "dist/scanstream.js");
const folder = mkdtempSync(join(tmpdir(), "try-package-"));

function start(args, env = {}) {
  const child = spawn(process.execPath, [join(process.cwd(), program), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) child[stream].on("data", (text) => (output[stream] += text));
  const ended = new Promise((resolve) => child.on("close", (code) => resolve({ code, ...output })));
  return { child, output, ended };
}

async function run(args, expectedCode, env) {
  const outcome = await start(args, env).ended;
  if (outcome.code !== expectedCode) {
    console.error(
      `${args.join(" ")}: exit code ${outcome.code}, expected ${expectedCode}\n${outcome.stdout}\n${outcome.stderr}`,
    );
    process.exit(1);
  }
  return outcome;
}

const installed = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8"));
const { stdout: version } = await run(["--version"], 0);
if (version !== `${installed.version}\n`)
  throw new Error(`--version says ${version}, and package.json ${installed.version}`);
await run(["explain"], 0);

const org = start(["practice-org", "--port", "0"]);
while (!org.output.stdout.includes("IDP_PRIVATE_KEY_FILE=")) {
  if (org.child.exitCode !== null) throw new Error(org.output.stderr);
  await new Promise((resolve) => org.child.stdout.once("data", resolve));
}
const env = Object.fromEntries(
  org.output.stdout.split("\n").flatMap((line) => [/^(IDP_\w+)=(.*)$/.exec(line)?.slice(1)].filter(Boolean)),
);
await run(["scan", "--format", "all", "--output", "report"], 1, env);
await run(["collect", "--save-artifacts", "evidence.json"], 0, env);
org.child.kill();
await run(["evaluate", "--from-artifacts", "evidence.json", "--format", "json", "--output", "later"], 1);
await run(["diff", "report/scan.json", "later/scan.json"], 0);

const { follow } = await import(`${name}/subscribe`).catch(
  () => import(join(process.cwd(), "node_modules", name, "dist/modules/subscribe.js")),
);
if (typeof follow !== "function") throw new Error("subscribe exports no follow");
console.log(`${installed.name} ${installed.version} works on Node ${process.versions.node}`);
