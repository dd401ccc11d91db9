import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { AdminArguments } from "../../gateway/operator/arguments.ts";
import { runAdmin } from "../../gateway/operator/call_admin.ts";
import type { AdminOperation } from "../../gateway/operator/operations.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Broker } from "../../shared/broker.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { createTestDatabase, startPostgres } from "../../test/support/postgres.ts";
import { startRedis } from "../../test/support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/tcp_proxy.ts";

/** What a gateway stands on: real servers, each behind a network that can be broken. */
export interface SoakEnvironment {
  /** What `serve` needs to run on them. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same without networks that can be broken: they are part of this process, and take its time. */
  readonly directEnvironment: Readonly<Record<string, string>>;
  readonly brokerNetwork: TcpProxy;
  readonly databaseNetwork: TcpProxy;
  /** Between the gateway and the issuer's JWKS. */
  readonly issuerNetwork: TcpProxy;
  /** A producer on a separate network, which never breaks. */
  readonly producer: Broker;
  /** On a separate connection, which never breaks. */
  admin(operation: AdminOperation, args: AdminArguments): Promise<unknown>;
  sign(claims: Claims): Promise<string>;
  /** The number of channels with subscribers at Redis. */
  subscriptions(): Promise<number>;
  close(): Promise<void>;
}

export interface Claims {
  readonly tenantId: string;
  readonly sub: string;
  readonly expiresAtSeconds: number;
}

const issuer = "https://issuer.soak";
const audience = "scanstream-soak";

export async function startEnvironment(): Promise<SoakEnvironment> {
  await using opened = new AsyncDisposableStack();
  const postgres = await startPostgres();
  opened.defer(() => postgres.stop());
  const database = await createTestDatabase(postgres.adminUrl);
  const redis = await startRedis();
  opened.defer(() => redis.stop());
  const keys = await startIssuer();
  opened.defer(() => keys.close());
  const databaseUrl = new URL(database.appUrl);
  const brokerNetwork = await startTcpProxy(redis);
  const databaseNetwork = await startTcpProxy({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  const issuerNetwork = await startTcpProxy({ host: "127.0.0.1", port: keys.port });
  for (const network of [brokerNetwork, databaseNetwork, issuerNetwork]) opened.defer(() => network.close());
  databaseUrl.port = String(databaseNetwork.port);
  const environment = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: `redis://127.0.0.1:${brokerNetwork.port}`,
    STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!",
    AUTH_JWKS_URL: `http://127.0.0.1:${issuerNetwork.port}/jwks.json`,
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
  };
  const producer = createRedisBroker({ url: redis.url, database: 2 });
  opened.defer(() => producer.close());
  const owned = opened.move();
  return {
    environment,
    directEnvironment: { ...environment, DATABASE_URL: database.appUrl, REDIS_URL: redis.url },
    brokerNetwork,
    databaseNetwork,
    issuerNetwork,
    producer,
    admin: (operation, args) => administer(database.ownerUrl, operation, args),
    sign: (claims) => keys.sign(claims),
    async subscriptions() {
      const channels = (await redis.command("PUBSUB", "CHANNELS", "scanstream:2:scan:*")) as readonly string[];
      return channels.length;
    },
    close: () => owned.disposeAsync(),
  };
}

/** On a machine that is busy with the soak itself a connect can take longer than a person would wait for it. */
async function administer(databaseUrl: string, operation: AdminOperation, args: AdminArguments): Promise<unknown> {
  for (;;) {
    try {
      return await runAdmin({ DATABASE_URL: databaseUrl }, operation, args);
    } catch (error) {
      // Said before anything was done.
      if (!(error instanceof UsageError)) throw error;
    }
  }
}

async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const key = { ...(await exportJWK(publicKey)), kid: "soak", alg: "ES256", use: "sig" };
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [key] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sign: ({ tenantId, sub, expiresAtSeconds }: Claims): Promise<string> =>
      new SignJWT({ tenant_id: tenantId })
        .setProtectedHeader({ alg: "ES256", kid: key.kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(sub)
        .setIssuedAt()
        .setExpirationTime(expiresAtSeconds)
        .sign(privateKey),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
