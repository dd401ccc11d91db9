import type { MessagePublisher } from "../../shared/broker.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Hono } from "hono";
import type { Tag } from "../description/operation.ts";
import type { FeatureDependencies } from "../features/features.ts";
import type { Limits } from "../limits.ts";
import type { Readiness } from "../observability/readiness.ts";
import type { Metrics, MetricsText } from "../observability/metrics.ts";
import type { StreamOpener } from "../streaming/event_stream.ts";
import type { SignIn } from "../auth/sign_in.ts";
import type { StreamTokens } from "../auth/stream_tokens.ts";

/** The user that the live page of the demo is signed in as. */
export interface DemoSession {
  /** A JWT that is valid for minutes; the page requests another. */
  readonly access_token: string;
  readonly tenant_id: string;
  readonly tenant_name: string;
}

/** Everything the gateway needs from its runtime. `create_gateway.ts` and `create_worker.ts` make it for `createApp`. */
export interface Dependencies extends FeatureDependencies {
  readonly authenticator: Authenticator;
  readonly limits: Limits;
  /** Takes the events that arrive over HTTP. */
  readonly broker: MessagePublisher;
  readonly streams: StreamOpener;
  readonly streamTokens: StreamTokens;
  /** Makes the OpenAPI document when it is first requested, or finds it where it was deployed. */
  readonly createOpenApi: (app: Hono, tags: readonly Tag[]) => () => Promise<string>;
  readonly corsOrigins: readonly string[];
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Null: `/metrics` is not served here, because it has a separate port or the runtime has none. */
  readonly metricsText: MetricsText | null;
  readonly webAssets: WebAssets;
  /** Null: no issuer is configured that people can sign in at from the page. */
  readonly signIn: SignIn | null;
  /** Null: this gateway is not the demo. */
  readonly demoSession: (() => Promise<DemoSession>) | null;
  /** The address at the other end of the connection; null when the runtime does not say. `env` is what `fetch` was given. */
  readonly peerAddress: (env: unknown) => string | null;
  /** The address that a request came from; an IPv6 /64 is one. */
  readonly addressOf: (request: Request, env: unknown) => string;
  /** Calls `release` once the client has the whole answer, or is gone; at once where the runtime does not tell. */
  readonly onClosed: (env: unknown, release: () => void) => void;
}

/** The live page's files, by path without leading slash, and as `.br` and `.gz` compressed. Null: no such file. */
export interface WebAssets {
  read(path: string): Promise<Uint8Array<ArrayBuffer> | null>;
}
