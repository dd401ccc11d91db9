import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startProcess, type MeasuredProcess } from "./measured_process.ts";

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
    until: /^READY$/,
  });
}
