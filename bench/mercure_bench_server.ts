import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { freePort } from "../test/support/free_port.ts";
import { makePayload, type BenchServer } from "./bench_server.ts";
import { startProcess } from "./measured_process.ts";

const issuer = "https://publisher.bench";
const key = "0123456789abcdef0123456789abcdef";
const topic = "bench";
const host = "127.0.0.1";

/**
 * The hub of a release from version 1.0 on, which is Caddy with its module: no history, subscribers without a token. Four keep-alive
 * connections each send an event and wait for its answer before the next. Null: `MERCURE` names no binary.
 */
export async function startMercureServer(): Promise<BenchServer | null> {
  const binary = process.env["MERCURE"];
  if (binary === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), "scanstream-mercure-"));
  const port = await freePort();
  const path = "/.well-known/mercure";
  const caddyfile = join(folder, "Caddyfile");
  await writeFile(caddyfile, configuration(port));
  const server = await startProcess({
    command: ["sh", "-c", 'exec "$@" 2>&1', "sh", binary, "run", "--config", caddyfile, "--adapter", "caddyfile"],
    env: { HOME: folder },
    cwd: folder,
    until: /serving initial configuration/,
  });
  const authorization = `Bearer ${await publisherToken(`http://${host}:${port}${path}`)}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 2000 });
  let failure: Error | null = null;
  const send = () => {
    const body = new URLSearchParams({ topic, type: "scan.progress", data: makePayload() }).toString();
    const headers = {
      authorization,
      "content-type": "application/x-www-form-urlencoded",
      "content-length": Buffer.byteLength(body),
    };
    const posted = request({ agent, host, port, method: "POST", path, headers });
    posted.on("error", (error) => (failure = error));
    posted.on("response", (answer) => {
      if ((answer.statusCode ?? 500) >= 300) failure = new Error(`Mercure refused an event: ${answer.statusCode}`);
      answer.resume();
    });
    posted.end(body);
  };
  return {
    name: "Mercure",
    host,
    port,
    path: `${path}?match=${topic}`,
    headers: [],
    process: server,
    async publish(burst) {
      if (failure !== null) throw failure;
      for (let event = 0; event < burst; event += 1) send();
    },
    async stop() {
      agent.destroy();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(port: number): string {
  return `{
  admin off
  auto_https off
  persist_config off
}
http://127.0.0.1:${port} {
  bind 127.0.0.1
  mercure {
    transport local
    anonymous
    issuer ${issuer} {
      publisher {
        jwt ${key} HS256
      }
    }
  }
}
`;
}

function publisherToken(audience: string): Promise<string> {
  const detail = {
    type: "https://mercure.rocks/authorization-detail",
    actions: ["publish"],
    topics: [{ match: "*" }],
  };
  return new SignJWT({ client_id: issuer, authorization_details: [detail] })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
    .setIssuer(issuer)
    .setSubject(issuer)
    .setAudience(audience)
    .setJti("bench")
    .setIssuedAt()
    .setExpirationTime("8h")
    .sign(new TextEncoder().encode(key));
}
