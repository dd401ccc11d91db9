import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startProcess } from "../measured_process.ts";
import { freePort } from "../../test/support/free_port.ts";

/** nginx with the settings of `deploy/nginx.conf` before one gateway, without TLS. Resolves with its URL. */
export async function startShippedProxy(gatewayUrl: string, folder: string) {
  const port = await freePort();
  const shipped = await readFile(join(import.meta.dirname, "../../deploy/nginx.conf"), "utf8");
  const http = shipped
    .replaceAll(/^ *(ssl_certificate.*|server 127.*|server_name.*|access_log.*)$/gm, "")
    .replace("least_conn;", `server ${new URL(gatewayUrl).host};`)
    .replace(/listen .*;/, `listen 127.0.0.1:${port};`)
    .replace("http {", `http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder};`)
    // All clients of this program have one address.
    .replace("limit_conn addresses 2000", "limit_conn addresses 20000");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const main = `daemon off; ${user} pid ${folder}/nginx.pid; error_log ${folder}/error.log crit; worker_rlimit_nofile 60000;`;
  await writeFile(join(folder, "nginx.conf"), `${main}\nevents { worker_connections 20000; }\n${http}`);
  const started = `"$@" & pid=$!; trap 'kill $pid; wait $pid; exit 0' TERM
    for try in $(seq 100); do (: < /dev/tcp/127.0.0.1/${port}) 2>/dev/null && break; sleep 0.05; done
    echo READY; wait $pid`;
  const nginx = await startProcess({
    command: ["bash", "-c", started, "bash", "nginx", "-p", folder, "-c", join(folder, "nginx.conf")],
    until: /^READY$/,
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => nginx.stop() };
}
