import { createApp } from "./app.ts";
import type { JwtVerifier } from "./auth/jwt.ts";
import { parseConfig, type SignInConfig } from "./config.ts";
import type { Feature } from "./features/features.ts";
import { runTasks } from "./features/tasks.ts";
import type { Gateway, GatewayOptions } from "./gateway_options.ts";
import type { PageDependencies, WebAssets } from "./http/dependencies.ts";
import { createLog } from "./observability/log.ts";
import { openGatewayParts, type GatewayParts } from "./runtime/gateway_parts.ts";
import { createIssuerVerifier } from "./runtime/issuer_verifier.ts";

/** More than a gateway of one's own needs. */
export interface ProductOptions {
  /** Instead of the one of `auth`. */
  readonly jwtVerifier?: JwtVerifier | null;
  readonly signIn?: SignInConfig | null;
  readonly webAssets?: WebAssets;
  readonly hasMetricsPort?: boolean;
  readonly demoSession?: PageDependencies["demoSession"];
  readonly signal?: AbortSignal;
}

const noAssets: WebAssets = { read: async () => null };
const partsOf = new WeakMap<Gateway, GatewayParts>();

/**
 * Opens the gateway on Node or Deno: the routes and event streams of its features, publishing over HTTP, stream tokens, status. Keeps
 * nothing global and listens to no signal. Rejects with `UsageError` for what is missing, and with `TypeError` for features that do
 * not fit together.
 */
export async function createGateway(options: GatewayOptions & ProductOptions): Promise<Gateway> {
  const defaults = parseConfig({});
  const { features, auth, signal } = options;
  const parts = await openGatewayParts({
    ...defaults,
    hasMetricsPort: false,
    log: createLog(),
    webAssets: noAssets,
    demoSession: null,
    jwtVerifier: auth === undefined ? null : await createIssuerVerifier(auth),
    ...options,
    streamTokenSecret: options.streamTokenSecret ?? null,
    bounds: { ...defaults.bounds, ...options.bounds },
    signal,
  });
  try {
    const gateway = toGateway(parts, features);
    partsOf.set(gateway, parts);
    return gateway;
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** The parts behind a gateway. Throws `TypeError` for an object that `createGateway` has not made. */
export function gatewayParts(gateway: Gateway): GatewayParts {
  const parts = partsOf.get(gateway);
  if (parts === undefined) throw new TypeError("Cannot serve the gateway: expected what createGateway resolves with");
  return parts;
}

function toGateway(parts: GatewayParts, features: readonly Feature[]): Gateway {
  const { dependencies } = parts;
  const app = createApp(dependencies, features);
  return {
    fetch: async (request, env = {}) => app.fetch(request, env),
    scheduled: () => runTasks(features, dependencies),
    async close() {
      await parts.drain(0);
      await parts.close();
    },
  };
}
