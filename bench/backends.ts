import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { createApiKey } from "../gateway/auth/api_keys.ts";
import { scanChannel } from "../shared/scan_events.ts";
import { toChannelKey } from "../shared/brokers/channel_key.ts";
import { asAdmin, createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { startRedis } from "../test/support/redis.ts";
import { makePayload } from "./bench_server.ts";

const issuer = "https://issuer.bench";
const audience = "scanstream-bench";
const tenantId = "7e000000-0000-4000-8000-000000000000";
/** `EVENTSTREAM_CACHE_DB` of every gateway that is measured. */
const brokerDatabase = 2;
/** Scans in the database. */
const maxScans = 20_000;

/** The real Postgres and Redis behind the gateway, and its credentials. */
export interface Backends {
  /** The environment of a gateway on them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly apiKey: string;
  /** A JWT of a member. */
  readonly token: string;
  /** Sends so many events to the channel of scan 0. */
  publish(burst: number): Promise<void>;
  stop(): Promise<void>;
}

/** The path of the event stream of a scan. */
export function streamPath(scan: number): string {
  return `/api/v1/scans/${scanIdOf(scan)}/event-stream`;
}

function scanIdOf(scan: number): string {
  return `5ca00000-0000-4000-8000-${String(scan).padStart(12, "0")}`;
}

export async function startBackends(): Promise<Backends> {
  const redis = await startRedis();
  const postgres = await startPostgres();
  const database = await createTestDatabase(postgres.adminUrl);
  const inDatabase = new URL(postgres.adminUrl);
  inDatabase.pathname = `/${database.name}`;
  const { apiKey, prefix, hash } = await createApiKey();
  await asAdmin(inDatabase.href, async (admin) => {
    await admin.query("insert into tenants (id, name) values ($1, 'Bench')", [tenantId]);
    await admin.query("insert into users (sub) values ('member')");
    await admin.query("insert into memberships (tenant_id, user_id) select $1, sub from users", [tenantId]);
    await admin.query("insert into api_keys (tenant_id, name, prefix, hash) values ($1, 'bench', $2, $3)", [
      tenantId,
      prefix,
      hash,
    ]);
    await admin.query(
      `insert into scans (id, tenant_id, status, updated_at)
       select ('5ca00000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'running', now() + interval '1 day'
       from generate_series(0, $2) n`,
      [tenantId, maxScans],
    );
    await admin.query("analyze");
  });
  const key = await generateKeyPair("ES256", { extractable: true });
  const publisher = await connectPublisher(redis.port);
  return {
    environment: {
      DATABASE_URL: database.appUrl,
      REDIS_URL: redis.url,
      STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
      AUTH_JWKS: JSON.stringify({ keys: [await toPublic(key.publicKey)] }),
      AUTH_ISSUER: issuer,
      AUTH_AUDIENCE: audience,
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: "50000",
      TENANT_MAX_PERCENT: "100",
    },
    apiKey,
    token: await sign(key.privateKey),
    async publish(burst) {
      publish(publisher, burst);
    },
    async stop() {
      publisher.destroy();
      await redis.stop();
      await postgres.stop();
    },
  };
}

/** Raw bytes, as for the other servers: a client library would use more CPU than what is measured. */
async function connectPublisher(port: number): Promise<Socket> {
  const publisher = connect(port, "127.0.0.1");
  await once(publisher, "connect");
  publisher.setNoDelay();
  publisher.on("data", (answers: Uint8Array) => {
    // The number of subscribers that got it; an error starts with a minus.
    if (answers.includes(0x2d)) throw new Error(`Cannot publish: Redis answered ${new TextDecoder().decode(answers)}`);
  });
  return publisher;
}

function publish(publisher: Socket, burst: number): void {
  const commands: string[] = [];
  const key = toChannelKey(brokerDatabase, scanChannel(tenantId, scanIdOf(0)));
  for (let event = 0; event < burst; event += 1) {
    const message = `{"type":"scan.progress","data":${makePayload()}}`;
    commands.push(`*3\r\n$7\r\nPUBLISH\r\n$${key.length}\r\n${key}\r\n$${message.length}\r\n${message}\r\n`);
  }
  publisher.write(commands.join(""));
}

async function toPublic(key: CryptoKey): Promise<JWK> {
  return { ...(await exportJWK(key)), kid: "bench", alg: "ES256", use: "sig" };
}

async function sign(key: CryptoKey): Promise<string> {
  return new SignJWT({ tenant_id: tenantId })
    .setProtectedHeader({ alg: "ES256", kid: "bench", typ: "JWT" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject("member")
    .setIssuedAt()
    .setExpirationTime("2h")
    .sign(key);
}
