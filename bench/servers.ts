import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { freePort } from "../test/support/free_port.ts";
import { denoProgram } from "../test/support/runtime_programs.ts";
import { temporaryFolder } from "../test/support/temporary_folder.ts";
import { startProcess, type MeasuredProcess, type ProcessOptions } from "./measured_process.ts";

/** A server of event streams that is measured, ready to take connections. */
export interface BenchServer extends AsyncDisposable {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Path of the event stream of its channel. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly process: Pick<MeasuredProcess, "cpuSeconds" | "residentBytes">;
  /** Sends this number of events to the channel, one right after the other. */
  publish(burst: number): Promise<void>;
}

/** The JSON of an event: as large as a progress event, with the nanoseconds since the epoch in it, exact to a microsecond. */
export function makePayload(): string {
  const t = Math.round((performance.timeOrigin + performance.now()) * 1e3) * 1000;
  const payload = { scan_id: "5ca00000-0000-4000-8000-000000000000", checks_done: 12, checks_total: 29, check: "", t };
  return JSON.stringify(payload);
}

/** Raw bytes, as for every server: a client library would use more CPU than what is measured. */
export async function connectPublisher(port: number): Promise<Socket> {
  const publisher = connect(port, "127.0.0.1");
  await once(publisher, "connect");
  return publisher.setNoDelay();
}

export type GatewayVariant = "node" | "deno";

const root = join(import.meta.dirname, "..");
/** The gateway as users start it. */
export const gatewayCommands: Readonly<Record<GatewayVariant, () => readonly string[]>> = {
  node: () => [process.execPath, join(root, "command_line/scanstream.ts"), "serve"],
  deno: () => [denoProgram(), "run", "-A", join(root, "gateway/runtime/main_deno.ts")],
};

/** Starts a gateway; `url` is the address at which it listens. */
export async function startGateway({
  env,
  command = gatewayCommands.node(),
  ...others
}: Omit<ProcessOptions, "command" | "until"> & Partial<Pick<ProcessOptions, "command">>) {
  const given = { HOST: "127.0.0.1", PORT: "0", DRAIN_DELAY_SECONDS: "0", ...env };
  const until = /The gateway listens on (http:\/\/\S+)/;
  const gateway = await startProcess({ command, env: given, until, ...others });
  return { ...gateway, url: gateway.match[1] ?? "" };
}

const nginxPaths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];
const modulePaths = ["/usr/lib/nginx/modules/ngx_nchan_module.so", "/usr/lib64/nginx/modules/ngx_nchan_module.so"];

/** nginx with nchan, one worker, no authentication and no broker behind it; null where it is not installed. */
export async function startNchanServer(): Promise<BenchServer | null> {
  const program = nginxPaths.find(existsSync);
  const module = modulePaths.find(existsSync);
  if (program === undefined || module === undefined) return null;
  const folder = await temporaryFolder();
  const port = await freePort();
  const configuration = nchanConfiguration(folder.path, module, port);
  const server = await startNginx({ program, folder: folder.path, port, configuration });
  const publisher = (await connectPublisher(port)).resume();
  return {
    name: "nchan",
    host: "127.0.0.1",
    port,
    path: "/sub",
    headers: [],
    process: server,
    async publish(burst) {
      const requests = Array.from({ length: burst }, () => {
        const body = makePayload();
        return (
          `POST /pub HTTP/1.1\r\nHost: x\r\nX-EventSource-Event: scan.progress\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        );
      });
      publisher.write(requests.join(""));
    },
    async [Symbol.asyncDispose]() {
      publisher.destroy();
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function nchanConfiguration(folder: string, module: string, port: number): string {
  return `
load_module ${module};
events { worker_connections 30000; }
http {
  access_log off; keepalive_requests 1000000000; client_body_temp_path ${folder}; proxy_temp_path ${folder};
  fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  client_body_buffer_size 128k; nchan_shared_memory_size 512m;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /sub { nchan_subscriber eventsource; nchan_channel_id bench; nchan_subscriber_first_message newest; nchan_eventsource_ping_interval 11; }
    location = /pub { nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 50; }
  }
}
`;
}

export interface NginxOptions {
  readonly program: string;
  /** For its configuration, logs and pid. */
  readonly folder: string;
  readonly port: number;
  /** Settings besides the process's own. */
  readonly configuration: string;
}

/** Starts nginx with one worker. Resolves once the port answers. */
export async function startNginx({ program, folder, port, configuration }: NginxOptions): Promise<MeasuredProcess> {
  const file = join(folder, "nginx.conf");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const main = `daemon off; worker_processes 1; ${user} worker_rlimit_nofile 60000; pid ${folder}/nginx.pid;`;
  await writeFile(file, `${main} error_log ${folder}/error.log crit;\n${configuration}`);
  // nginx prints nothing when it is ready: a shell does once the port answers.
  const started = `"$@" & pid=$!; trap 'kill $pid; wait $pid; exit 0' TERM
    for try in $(seq 100); do (: < /dev/tcp/127.0.0.1/${port}) 2>/dev/null && break; sleep 0.05; done
    echo READY; wait $pid`;
  return startProcess({
    command: ["bash", "-c", started, "bash", program, "-p", folder, "-c", file],
    cwd: folder,
    until: /^READY$/m,
  });
}
