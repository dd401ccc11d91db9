import type { Database } from "../../drizzle/database.ts";
import type { Broker } from "../../shared/broker.ts";
import { openBroker } from "../../shared/brokers/open_broker.ts";
import type { GatewayConfig, IssuerOptions } from "../config.ts";
import { createGateway, type ProductOptions } from "../create_gateway.ts";
import { scanstreamFeatures } from "../features/scanstream_features.ts";
import { pglite } from "../library/pglite.ts";
import { postgres } from "../library/postgres.ts";
import type { Log } from "../observability/log.ts";
import { adminContext } from "../operator/call_admin.ts";
import {
  createLocalState,
  developmentAudience,
  developmentIssuer,
  stateDirectory,
  type LocalState,
} from "../operator/local_state.ts";
import { executeAdmin, type AdminArguments, type AdminOperation } from "../operator/operations.ts";
import type { HttpRuntime } from "./http_runtime.ts";

export interface StartOptions extends Omit<ProductOptions, "signIn" | "hasMetricsPort"> {
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

export type RunningGateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Starts scanstream's own gateway, as it is configured, on Node or Deno. Keeps nothing global and listens to no signal, so that several
 * run in one process. Rejects with `UsageError` when what is configured is not there.
 */
export async function startGateway(options: StartOptions) {
  const { config, http, database, broker, directory = stateDirectory, ...others } = options;
  const { bounds, corsOrigins, trustedProxyHops, signIn, databaseUrl, metricsPort, streamTokenSecret, auth } = config;
  const state = createLocalState(directory);
  const configured = databaseUrl === null ? pglite({ directory }) : postgres({ url: databaseUrl });
  const parts = await createGateway({
    bounds,
    corsOrigins,
    trustedProxyHops,
    signIn,
    ...(streamTokenSecret !== null && { streamTokenSecret }),
    ...others,
    features: scanstreamFeatures(config),
    database: database === undefined ? configured : { open: () => database, embedded: state },
    broker: { open: () => broker ?? openBroker(config.broker) },
    auth: auth.kind === "local" ? await developmentIssuerOf(state, auth.tenantClaim) : auth,
    hasMetricsPort: metricsPort !== null,
  });
  const served = await parts.serve(http, { ...config, names: { host: "HOST", port: "PORT" } });
  const hasIssuer = auth.kind !== "local";
  const admin = adminContext({ hasIssuer, tenantClaim: auth.tenantClaim }, state, parts.dependencies.database);
  return {
    ...served,
    parts,
    /** An administrative operation on this gateway's database. */
    admin: (operation: AdminOperation, args: AdminArguments) => executeAdmin(admin, operation, args),
  };
}

/** Stands in for an issuer while none is configured. */
async function developmentIssuerOf(state: LocalState, tenantClaim: string): Promise<IssuerOptions> {
  const { publicJwk } = await state.developmentKey();
  return { jwks: { keys: [{ ...publicJwk }] }, issuer: developmentIssuer, audience: developmentAudience, tenantClaim };
}
