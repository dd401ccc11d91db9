import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free_port.ts";
import { refuseInFastTest } from "./machine_tools.ts";
import { endsWithUs } from "./redis.ts";
import { createSelfSigned } from "./self_signed.ts";

const deploy = join(import.meta.dirname, "../../deploy");

/** A real proxy with the settings of `deploy/`, before gateways of this machine. */
export interface Proxy {
  /** Without a slash at its end. */
  readonly url: string;
  /** What it logged about requests. */
  accessLog(): Promise<string>;
  stop(): Promise<void>;
}

/** `deploy/nginx.conf` with other ports and files; `tls: false` also without TLS, for many streams on a small machine. */
export async function startNginx(gatewayPorts: readonly number[], { tls = true } = {}): Promise<Proxy> {
  refuseInFastTest("nginx");
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), "scanstream-nginx-")), freePort()]);
  const { cert, key } = createSelfSigned({ names: ["localhost", "127.0.0.1"] });
  await Promise.all([
    mkdir(join(folder, "temp")),
    writeFile(join(folder, "cert.pem"), cert),
    writeFile(join(folder, "key.pem"), key, { mode: 0o600 }),
  ]);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path temp/${name};`,
  );
  const given = await readFile(join(deploy, "nginx.conf"), "utf8");
  const http = replaceAll(given, [
    ["http {", `http {\n  ${temporary.join("\n  ")}`],
    ["/var/log/nginx/scanstream.log", join(folder, "access.log")],
    ["/etc/ssl/scanstream.pem", join(folder, "cert.pem")],
    ["/etc/ssl/scanstream.key", join(folder, "key.pem")],
    ["listen 443 ssl http2", `listen 127.0.0.1:${port}${tls ? " ssl http2" : ""}`],
    ["127.0.0.1:8787", `127.0.0.1:${gatewayPorts[0]}`],
    ["127.0.0.1:8788", `127.0.0.1:${gatewayPorts[1]}`],
  ]);
  const isRoot = process.getuid?.() === 0;
  const settings = [
    "daemon off;",
    `pid ${join(folder, "pid")};`,
    `error_log ${join(folder, "error.log")} warn;`,
    // The workers of root are another user, who may not read a folder of ours.
    ...(isRoot ? ["user root;"] : []),
    "worker_rlimit_nofile 20000;",
    "events { worker_connections 16384; }",
    http,
  ];
  await writeFile(join(folder, "nginx.conf"), settings.join("\n"));
  const command = ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")];
  const child = await launch(command, port, {});
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    accessLog: () => readFile(join(folder, "access.log"), "utf8"),
    stop: () => stop(child, folder),
  };
}

function replaceAll(text: string, replacements: readonly (readonly [given: string, other: string])[]): string {
  return replacements.reduce((changed, [given, other]) => {
    if (!changed.includes(given)) throw new Error(`The proxy's settings have no ${given}`);
    return changed.replaceAll(given, other);
  }, text);
}

async function launch(
  command: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin`, ...environment };
  const child = spawn("/bin/sh", ["-c", endsWithUs, "sh", ...command], { env, stdio: ["pipe", "ignore", "pipe"] });
  child.once("exit", () => child.stdin.end("\n"));
  child.stdin.on("error", () => undefined);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-5000)));
  const untilMs = Date.now() + 15_000;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > untilMs) throw new Error(`Cannot start ${command[0]}:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return child;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const is = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return is;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
}
