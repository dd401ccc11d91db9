import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

interface Tool {
  /** Any one of these programs will do. */
  readonly programs: readonly string[];
  readonly aptPackage: string;
  /** Without it the tests take longer; only CI installs it. */
  readonly isOptional?: true;
}

/** What npm cannot bring. Everything else comes from the lock file. */
const tools: readonly Tool[] = [
  { programs: ["redis-server", "valkey-server"], aptPackage: "redis-server" },
  { programs: ["chromium", "chromium-browser", "google-chrome"], aptPackage: "chromium" },
  { programs: ["chromium-headless-shell"], aptPackage: "chromium-headless-shell", isOptional: true },
  { programs: ["firefox-esr", "firefox"], aptPackage: "firefox-esr" },
  { programs: ["WebKitWebDriver"], aptPackage: "webkit2gtk-driver" },
  { programs: ["Xvfb"], aptPackage: "xvfb" },
  { programs: ["xmllint"], aptPackage: "libxml2-utils" },
  { programs: ["pgbouncer"], aptPackage: "pgbouncer" },
  { programs: ["caddy"], aptPackage: "caddy" },
  { programs: ["promtool"], aptPackage: "prometheus" },
  ...(process.platform === "linux"
    ? [
        { programs: ["systemd-analyze"], aptPackage: "systemd" },
        { programs: ["strace"], aptPackage: "strace" },
      ]
    : []),
  { programs: ["nginx"], aptPackage: "nginx-light" },
  { programs: ["pg_dumpall"], aptPackage: "postgresql" },
  { programs: ["script"], aptPackage: "bsdutils" },
  { programs: ["zsh"], aptPackage: "zsh" },
  { programs: ["fish"], aptPackage: "fish" },
  { programs: ["groff"], aptPackage: "groff-base" },
  { programs: ["mandoc"], aptPackage: "mandoc" },
];

const run = promisify(execFile);

/**
 * Looks for the programs that tests need; installs with apt what is missing where that is possible, and otherwise names
 * all of it in one error, so that no test has to be skipped in silence.
 */
export async function requireMachineTools({ withOptional = false } = {}): Promise<void> {
  const missing = tools.filter((tool) => isMissing(tool) && (withOptional || tool.isOptional !== true));
  if (missing.length === 0) return;
  const packages = missing.map((tool) => tool.aptPackage);
  if (process.getuid?.() === 0 && findProgram("apt-get")) {
    process.stderr.write(`Installing with apt: ${packages.join(", ")}\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-qq"], { env }).catch(() => undefined);
    const install = (names: readonly string[]) =>
      run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], { env, maxBuffer: 1e8 });
    // A package that the distribution does not have keeps all others from being installed.
    const required = missing.flatMap((tool) => (tool.isOptional === true ? [] : [tool.aptPackage]));
    await install(packages).catch(() => install(required).catch(() => undefined));
  }
  const stillMissing = missing.filter((tool) => tool.isOptional !== true && isMissing(tool));
  if (stillMissing.length === 0) return;
  const names = stillMissing.map(({ programs, aptPackage }) => `${programs[0]} (package ${aptPackage})`);
  throw new Error(
    `Cannot run the tests: these programs are not on this machine: ${names.join(", ")}. ` +
      `On Debian and Ubuntu: sudo apt-get install ${stillMissing.map((tool) => tool.aptPackage).join(" ")}`,
  );
}

/** Fast tests run where none of the tools are: a server that one of them starts is an error, not a minute more. */
export function refuseInFastTest(server: string): void {
  if (process.env["TEST_SPEED"] !== "fast") return;
  throw new Error(`A fast test may not start ${server}: name its file in the list \`system\` of vitest.config.ts`);
}

function isMissing(tool: Tool): boolean {
  return !tool.programs.some(findProgram);
}

function findProgram(program: string): boolean {
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
  ];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
