import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findPeer, peersFolder } from "./folder.ts";

/**
 * `node bench/peers/install.ts`: puts what the gateway and the scanner are compared with into one folder, at pinned versions,
 * and says what could not be installed. Hono is a dependency anyway, and nchan comes from the system's packages.
 */
const npmPackages = ["better-sse@0.16.1"];
/** Each in a separate virtual environment. Prowler needs Python 3.10 to 3.12. */
const pythonPackages: Readonly<Record<string, readonly string[]>> = {
  django_eventstream: ["django-eventstream==5.3.4", "Django==5.2.19", "uvicorn[standard]==0.54.0"],
  prowler: ["prowler==5.46.0"],
};

mkdirSync(peersFolder, { recursive: true });
install("better-sse", [
  ["npm", "install", "--prefix", peersFolder, "--no-audit", "--no-fund", "--save-exact", ...npmPackages],
]);
for (const [name, packages] of Object.entries(pythonPackages)) {
  const environment = join(peersFolder, name);
  install(name, [
    ["python3", "-m", "venv", environment],
    [join(environment, "bin/python"), "-m", "pip", "install", "--quiet", ...packages],
  ]);
}
const mercure = "mercure";
say(
  findPeer(mercure) === null
    ? `${mercure}: not installed: put the binary of a release (1.0 or later) there as ${join(peersFolder, mercure)}`
    : `${mercure}: there`,
);

/** Stops at the first command that fails. */
function install(name: string, commands: readonly (readonly string[])[]): void {
  for (const [command = "", ...args] of commands) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
    if (status === 0) continue;
    const reason = error?.message ?? stderr.trim().split("\n").slice(-3).join(" ");
    return say(`${name}: not installed: ${command} ${args.join(" ")}: ${reason}`);
  }
  say(`${name}: installed`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
