import type { Database } from "../../drizzle/database.ts";
import type { Publisher } from "../../shared/broker.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Budget } from "./budget.ts";
import type { DemoDependencies } from "./demo_routes.ts";
import type { Readiness } from "../observability/readiness.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics, MetricsText } from "../observability/metrics.ts";
import type { Traces } from "../observability/traces.ts";
import type { StreamOpener } from "../streaming/stream_opener.ts";
import type { SignIn } from "../auth/sign_in.ts";
import type { StreamTokens } from "../auth/stream_tokens.ts";

/** Everything the gateway needs from its runtime. Each `main_*.ts` builds one and calls `createApp`. */
export interface Dependencies extends DemoDependencies {
  readonly database: Database;
  readonly budget: Budget;
  readonly publisher: Publisher;
  readonly streams: StreamOpener;
  readonly authenticator: Authenticator;
  readonly streamTokens: StreamTokens;
  /** Null: no issuer is configured that people can sign in at from the page. */
  readonly signIn: SignIn | null;
  readonly readiness: Readiness;
  readonly webAssets: WebAssets;
  readonly docs: Docs;
  readonly corsOrigins: readonly string[];
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined: nothing is traced. */
  readonly traces?: Traces | undefined;
  readonly webhooks: WebhookSender;
  /** Null: `/metrics` is not served here, because it has a separate port or the runtime has none. */
  readonly metricsText: MetricsText | null;
  /** The address at the other end of the connection; null when the runtime does not say. `env` is what `fetch` was given. */
  readonly peerAddress: (env: unknown) => string | null;
  /** Whose share a request takes until it is authenticated. `env` is what `fetch` was given. */
  readonly holderOf: (request: Request, env: unknown) => string;
  readonly nowMs: () => number;
  /** How long ended scans and monitors are kept; null: for ever. */
  readonly retentionDays: number | null;
  /** How long the history of organizations is kept. */
  readonly historyDays: number;
}

export interface WebhookSender {
  /** What a webhook's URL may be. */
  readonly rules: { readonly allowPrivate: boolean };
  /** Sends what was just queued. Never rejects; where nothing runs after a request, it goes on until that was tried. */
  sendDue(): Promise<void>;
}

/** The live page's files, by path without leading slash. Null: no such file. */
export interface WebAssets {
  read(path: string): Promise<WebAsset | null>;
}

interface WebAsset {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The documents about the API and its events. */
export interface Docs {
  openApi(): Promise<unknown>;
  asyncApi(): Promise<unknown>;
  page(): Promise<DocsPage>;
}

export interface DocsPage {
  readonly html: string;
  /** The Content-Security-Policy that allows the page's own style and nothing else. */
  readonly policy: string;
}
