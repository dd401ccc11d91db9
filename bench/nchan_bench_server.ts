import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../test/support/free_port.ts";
import { makePayload, type BenchServer } from "./bench_server.ts";
import { startNginx } from "./nginx.ts";

const nginxPaths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];
const modulePaths = ["/usr/lib/nginx/modules/ngx_nchan_module.so", "/usr/lib64/nginx/modules/ngx_nchan_module.so"];

/** nginx with nchan, one worker, no authentication and no broker behind it; null where it is not installed. */
export async function startNchanServer(): Promise<BenchServer | null> {
  const nginx = nginxPaths.find(existsSync);
  const module = modulePaths.find(existsSync);
  if (nginx === undefined || module === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), "scanstream-nchan-"));
  const port = await freePort();
  const server = await startNginx({
    program: nginx,
    folder,
    port,
    configuration: configurationOf(folder, module, port),
  });
  const publisher = connect(port, "127.0.0.1");
  await once(publisher, "connect");
  publisher.setNoDelay();
  publisher.resume();
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
    async stop() {
      publisher.destroy();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configurationOf(folder: string, module: string, port: number): string {
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
