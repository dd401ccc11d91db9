import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { freePort } from "../../test/support/free_port.ts";
import { startProcess } from "../measured_process.ts";
import { findPeer } from "./folder.ts";
import type { Peer } from "./peer.ts";

const issuer = "https://publisher.bench";
const key = "0123456789abcdef0123456789abcdef";
const topic = "bench";

/** The hub of a release from version 1.0 on, which is Caddy with its module: no history, subscribers without a token. */
export async function prepareMercure(): Promise<Peer | null> {
  const binary = findPeer("mercure");
  if (binary === null) return null;
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
  const authorization = `Bearer ${await publisherToken(`http://127.0.0.1:${port}${path}`)}`;
  return {
    name: "Mercure",
    port,
    path: `${path}?match=${topic}`,
    process: server,
    publish: {
      path,
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: (payload) => new URLSearchParams({ topic, type: "scan.progress", data: payload }).toString(),
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
