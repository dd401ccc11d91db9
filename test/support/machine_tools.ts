import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { requestSharedService } from "./shared_services.ts";

/** Programs that npm cannot bring: any one of `names` will do, and apt has the first one's package, or the next one's. */
const tools: Readonly<Record<Tool, { readonly names: readonly string[]; readonly packages: readonly string[] }>> = {
  "redis-server": { names: ["redis-server", "valkey-server"], packages: ["redis-server"] },
  // Chromium's shell draws no windows, for half of the CPU time.
  chromium: {
    names: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"],
    packages: ["chromium-headless-shell", "chromium"],
  },
  xmllint: { names: ["xmllint"], packages: ["libxml2-utils"] },
};

type Tool = "redis-server" | "chromium" | "xmllint";

/** The program's path. Installs it where that is possible, and otherwise throws an error that says how to install it. */
export async function requireProgram(tool: Tool): Promise<string> {
  refuseInFastTest(tool);
  const found = findProgram(tool);
  if (found !== undefined) return found;
  if ((await requestSharedService("apt", tool)) === null) await installWithApt(tool);
  const installed = findProgram(tool);
  if (installed !== undefined) return installed;
  throw new Error(
    `Cannot run this test: ${tool} is not on this machine. ` +
      `On Debian and Ubuntu: sudo apt-get install ${tools[tool].packages.at(-1)}`,
  );
}

/** apt refuses to run twice at the same time. */
let installation = Promise.resolve();

/** Does nothing for anyone but root, and where there is no apt. */
export function installWithApt(tool: string): Promise<void> {
  installation = installation.then(async () => {
    if (process.getuid?.() !== 0 || !(tool in tools)) return;
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    // The machine itself may be installing its updates.
    const options = ["-qq", "-o", "DPkg::Lock::Timeout=300"];
    const apt = (...args: readonly string[]) =>
      promisify(execFile)("apt-get", [...options, ...args], { env, maxBuffer: 1e8 });
    await apt("update").catch(() => undefined);
    for (const name of tools[tool as Tool].packages) {
      process.stderr.write(`Installing with apt: ${name}\n`);
      const installed = await apt("install", "-y", "--no-install-recommends", name).catch(() => null);
      if (installed !== null) return;
    }
  });
  return installation;
}

/** Fast tests run where none of the tools are: a server that one of them starts is an error, not a minute more. */
export function refuseInFastTest(server: string): void {
  if (process.env["TEST_SPEED"] !== "fast") return;
  throw new Error(`A fast test may not start ${server}: name its file in the list \`system\` of vitest.config.ts`);
}

function findProgram(tool: Tool): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
  return tools[tool].names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}
