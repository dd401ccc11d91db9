import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../test/support/free_port.ts";
import { createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { installTarball, packTarball } from "../test/support/tarball.ts";
import { residentBytes } from "./measured_process.ts";
import { medians } from "./statistics.ts";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

export interface ServerStart {
  /** From the start of the process to its first answer. */
  readonly readyMs: number;
  /** For the process and its children, a second later. */
  readonly residentMiB: number;
}

export interface PackageFigures {
  readonly packSeconds: number;
  readonly installSeconds: number;
  readonly tarballMB: number;
  readonly installedMB: number;
}

export interface StartFigures {
  readonly servers: Readonly<Record<string, ServerStart>>;
  /** Milliseconds of a whole command. */
  readonly commands: Readonly<Record<string, number>>;
  readonly package: PackageFigures;
  /** The load average of the last minute, before and at the end. */
  readonly loads: readonly [number, number];
}

interface ServerProgram {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Answered by any status where it is null. */
  readonly readyPath: string | null;
}

/** Start, memory and size of what is published, and of the same from source. Nothing is compared with a limit here. */
export async function benchStart(say: (line: string) => void, rounds: number): Promise<StartFigures> {
  const [loadBefore = 0] = loadavg();
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  try {
    const packages = [];
    for (let round = 0; round < rounds; round += 1)
      packages.push(await measurePackage(join(folder, `install-${round}`)));
    const figures = medians(packages);
    say(
      `tarball ${figures.tarballMB.toFixed(1)} MB, installed ${figures.installedMB.toFixed(1)} MB in ${figures.installSeconds.toFixed(1)} s`,
    );
    const bundle = join(folder, "install-0/installed/node_modules/scanstream/dist/scanstream.js");
    const source = join(root, "scanstream.ts");
    const commands = await measureCommands(rounds, {
      "`scan --help`, installed": [bundle, "scan", "--help"],
      "`scan --help`, from source": [source, "scan", "--help"],
      "Node by itself": ["-e", "0"],
    });
    for (const [name, ms] of Object.entries(commands)) say(`${name}: ${ms.toFixed(0)} ms`);
    const servers = await measureServers(say, rounds, { folder, bundle, source });
    return { servers, commands, package: figures, loads: [loadBefore, loadavg()[0] ?? 0] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measurePackage(folder: string): Promise<PackageFigures> {
  const packedMs = performance.now();
  const tarball = await packTarball(join(folder, "package"));
  const packSeconds = (performance.now() - packedMs) / 1000;
  const installed = join(folder, "installed");
  return {
    packSeconds,
    installSeconds: await secondsOf(() => installTarball(tarball, installed)),
    tarballMB: (await stat(tarball.file)).size / 1e6,
    installedMB: (await sizeOf(join(installed, "node_modules"))) / 1e6,
  };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return stats.reduce((sum, { size }) => sum + size, 0);
}

/** A command is short: it runs ten times as often as a server is started. */
async function measureCommands(
  rounds: number,
  commands: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, number>>> {
  const measured: Record<string, number>[] = [];
  for (let round = 0; round < rounds * 10; round += 1) {
    const figures: Record<string, number> = {};
    for (const [name, args] of Object.entries(commands)) {
      figures[name] = 1000 * (await secondsOf(() => run(process.execPath, args)));
    }
    measured.push(figures);
  }
  return medians(measured);
}

async function measureServers(
  say: (line: string) => void,
  rounds: number,
  { folder, bundle, source }: { readonly folder: string; readonly bundle: string; readonly source: string },
): Promise<Readonly<Record<string, ServerStart>>> {
  const postgres = await startPostgres();
  try {
    const { appUrl } = await createTestDatabase(postgres.adminUrl);
    const programs: Readonly<Record<string, () => Promise<ServerProgram | null>>> = {
      "`serve`, installed": () => gateway(bundle, appUrl),
      "`serve`, from source": () => gateway(source, appUrl),
      nginx: () => nginx(folder),
    };
    const figures: Record<string, ServerStart> = {};
    for (const [name, prepare] of Object.entries(programs)) {
      const measured = [];
      for (let round = 0; round < rounds; round += 1) {
        const program = await prepare();
        if (program !== null) measured.push(await measureServer(folder, program));
      }
      if (measured.length === 0) {
        say(`${name}: left out: it is not installed here`);
        continue;
      }
      const figure = medians(measured);
      figures[name] = figure;
      say(`${name}: ready after ${figure.readyMs.toFixed(0)} ms, ${figure.residentMiB.toFixed(0)} MiB resident`);
    }
    return figures;
  } finally {
    await postgres.stop();
  }
}

const readyTimeoutMs = 30_000;
const settleMs = 1000;

async function measureServer(cwd: string, { command, env = {}, port, readyPath }: ServerProgram): Promise<ServerStart> {
  const [file = "", ...args] = command;
  const startedMs = performance.now();
  const child = spawn(file, args, { cwd, env: { PATH: process.env["PATH"], HOME: cwd, ...env }, stdio: "ignore" });
  const exited = once(child, "exit");
  try {
    while (!(await answers(port, readyPath))) {
      if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended with ${child.exitCode}`);
      if (performance.now() - startedMs > readyTimeoutMs) throw new Error(`${command.join(" ")} did not answer`);
      await pause(2);
    }
    const readyMs = performance.now() - startedMs;
    await pause(settleMs);
    return { readyMs, residentMiB: (await residentBytes(child.pid ?? 0)) / 2 ** 20 };
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

async function answers(port: number, readyPath: string | null): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}${readyPath ?? "/"}`).then(
    (response) => readyPath === null || response.ok,
    () => false,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Next to a real Postgres; the in-process broker. */
async function gateway(program: string, databaseUrl: string): Promise<ServerProgram> {
  const port = await freePort();
  const env = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
    DRAIN_DELAY_SECONDS: "0",
  };
  return { command: [process.execPath, program, "serve"], env, port, readyPath: "/readyz" };
}

/** One worker that answers with an empty page. */
async function nginx(folder: string): Promise<ServerProgram | null> {
  const program = findProgram("nginx");
  if (program === null) return null;
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`);
  await writeFile(
    file,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
     http { access_log off; ${temporary.join(" ")} server { listen 127.0.0.1:${port}; return 204; } }`,
  );
  return { command: [program, "-p", folder, "-c", file], port, readyPath: null };
}

function findProgram(name: string): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, name)).find(existsSync) ?? null;
}
