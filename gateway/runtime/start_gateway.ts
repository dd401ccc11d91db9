import { createLocalJWKSet } from "jose";
import { createJwtVerifier, type JwtVerifier } from "../auth/jwt.ts";
import type { GatewayConfig } from "../config.ts";
import { createGateway, gatewayParts, type ProductOptions } from "../create_gateway.ts";
import type { Database } from "../../drizzle/database.ts";
import { scanstreamFeatures } from "../features/scanstream_features.ts";
import type { Log } from "../observability/log.ts";
import type { AdminArguments } from "../operator/arguments.ts";
import { adminContext } from "../operator/call_admin.ts";
import {
  createLocalState,
  developmentAudience,
  developmentIssuer,
  stateDirectory,
  type LocalState,
} from "../operator/local_state.ts";
import { executeAdmin, type AdminOperation } from "../operator/operations.ts";
import type { Broker } from "../../shared/broker.ts";
import type { GatewayParts } from "./gateway_parts.ts";
import { createIssuerVerifier } from "./issuer_verifier.ts";
import type { HttpRuntime } from "./http_runtime.ts";
import { brokerOf, databaseOf } from "./configured_adapters.ts";
import { serveGateway, type ServedGateway } from "./serve_gateway.ts";

export interface StartOptions extends Omit<ProductOptions, "jwtVerifier" | "signIn" | "hasMetricsPort"> {
  readonly http: HttpRuntime;
  readonly config: GatewayConfig;
  readonly log: Log;
  /** Folder of the embedded database, the development key and the generated secret. Default `.scanstream`. */
  readonly directory?: string;
  /** Used instead of the one that `config` names, and closed with the rest. */
  readonly database?: Database;
  /** Used instead of the one that `config` names, and closed with the rest. */
  readonly broker?: Broker;
}

export interface RunningGateway extends ServedGateway {
  readonly parts: GatewayParts;
  /** An administrative operation on this gateway's database. */
  admin(operation: AdminOperation, args: AdminArguments): Promise<unknown>;
}

/**
 * Starts scanstream's own gateway, as it is configured, on Node or Deno. Keeps nothing global and listens to no signal, so that several
 * run in one process. Rejects with `UsageError` when what is configured is not there.
 */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const { config, http, database, broker, directory = stateDirectory, ...others } = options;
  const { bounds, corsOrigins, trustedProxyHops, signIn, metricsPort, streamTokenSecret, auth } = config;
  const state = createLocalState(directory);
  const gateway = await createGateway({
    bounds,
    corsOrigins,
    trustedProxyHops,
    signIn,
    ...(streamTokenSecret !== null && { streamTokenSecret }),
    ...others,
    features: scanstreamFeatures(config),
    database: database === undefined ? databaseOf(config, state) : { open: async () => database, embedded: state },
    broker: broker === undefined ? brokerOf(config.broker) : { open: async () => broker },
    jwtVerifier: await openJwtVerifier(config, state),
    hasMetricsPort: metricsPort !== null,
  });
  const parts = gatewayParts(gateway);
  const admin = adminContext(
    { hasIssuer: auth.kind !== "local", tenantClaim: auth.tenantClaim },
    state,
    parts.dependencies.database,
  );
  const served = await serveGateway(gateway, { http, ...config });
  return { ...served, parts, admin: (operation, args) => executeAdmin(admin, operation, args) };
}

async function openJwtVerifier({ auth }: GatewayConfig, state: LocalState): Promise<JwtVerifier> {
  if (auth.kind !== "local") return createIssuerVerifier(auth);
  const { publicJwk } = await state.developmentKey();
  return createJwtVerifier({
    keys: createLocalJWKSet({ keys: [publicJwk] }),
    issuer: developmentIssuer,
    audience: developmentAudience,
    tenantClaim: auth.tenantClaim,
    nowMs: Date.now,
  });
}
