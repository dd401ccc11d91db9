import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free_port.ts";
import { unprivilegedUser } from "./postgres.ts";
import { endsWithUs } from "./redis.ts";

/** A real PgBouncer on loopback that lends a connection for one transaction at a time, and keeps no statements apart. */
export interface Pgbouncer {
  /** The database of `databaseUrl`, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** `connections` is how many it holds to the database, for however many clients. */
export async function startPgbouncer(databaseUrl: string, connections: number): Promise<Pgbouncer> {
  const url = new URL(databaseUrl);
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "scanstream-pgbouncer-"));
  const port = await freePort();
  const settings = [
    "[databases]",
    `* = host=${url.hostname} port=${url.port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = plain",
    `auth_file = ${join(folder, "users.txt")}`,
    "pool_mode = transaction",
    `default_pool_size = ${connections}`,
    "max_client_conn = 200",
  ];
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, `${settings.join("\n")}\n`);
  await writeFile(join(folder, "users.txt"), `"${url.username}" "${decodeURIComponent(url.password)}"\n`);
  if (user !== null)
    for (const path of [folder, file, join(folder, "users.txt")]) await chown(path, user.uid, user.gid);

  const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
  const command = ["-c", endsWithUs, "sh", "pgbouncer", file];
  const child = spawn("/bin/sh", command, { ...user, env, stdio: ["pipe", "ignore", "pipe"] });
  const exited = once(child, "exit");
  // As for Redis: a line says that it ended by itself.
  child.once("exit", () => child.stdin.end("\n"));
  child.stdin.on("error", () => undefined);
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    if (line.includes("process up")) break;
  }
  child.stderr.resume();
  if (child.exitCode !== null) throw new Error(`Cannot start pgbouncer:\n${log.join("\n")}`);
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
