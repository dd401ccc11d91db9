import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../test/support/free_port.ts";
import { startNginx } from "../nginx.ts";

/** nginx with the settings of `deploy/nginx.conf` before one gateway, without TLS. Resolves with its URL. */
export async function startShippedProxy(gatewayUrl: string, folder: string) {
  const port = await freePort();
  const shipped = await readFile(join(import.meta.dirname, "../../deploy/nginx.conf"), "utf8");
  const http = shipped
    .replaceAll(/^ *(ssl_certificate.*|server 127.*|server_name.*|access_log.*)$/gm, "")
    .replace("least_conn;", `server ${new URL(gatewayUrl).host};`)
    .replace("listen 443 ssl http2", `listen 127.0.0.1:${port}`)
    .replace("http {", `http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder};`)
    // All clients of this program have one address.
    .replace("limit_conn addresses 2000", "limit_conn addresses 20000");
  const configuration = `events { worker_connections 20000; }\n${http}`;
  const nginx = await startNginx({ program: "nginx", folder, port, configuration });
  return { url: `http://127.0.0.1:${port}`, stop: () => nginx.stop() };
}
