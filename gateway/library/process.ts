import * as v from "valibot";
import { UsageError } from "../../shared/usage_error.ts";
import { checkOptions, optionalText, wholeNumber } from "../check_options.ts";
import { createGateway as createProcessGateway, type ProcessGateway } from "../create_gateway.ts";
import type { Feature } from "../features/features.ts";
import { adapter, featureList, gatewayEntries } from "../gateway_entries.ts";
import type { DatabaseAdapter, Gateway, GatewayOptions } from "../gateway_options.ts";
import type { HttpRuntime } from "../runtime/http_runtime.ts";

/**
 * Opens a gateway on Node or Deno: the routes and event streams of its features, publishing over HTTP, stream tokens, status. Keeps
 * nothing global and listens to no signal. Rejects with `UsageError` for what is missing, and with `TypeError` for features that do
 * not fit together.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions("createGateway", gatewayEntries, options);
  return createProcessGateway(options);
}

export interface PortOptions {
  /** Default `127.0.0.1`: this machine only. */
  readonly host?: string;
  /** Default 8787; 0: any free one. */
  readonly port?: number;
}

export interface ServedGateway {
  /** Without a slash at its end. */
  readonly url: string;
  /** Shown this once: the first API key of an embedded database that had no tenant. */
  readonly firstKey: string | null;
  /** Closes the port, tells each stream when to come back and closes it within 3 s, then releases everything. */
  readonly stop: () => Promise<void>;
}

export async function serveOn(http: HttpRuntime, gateway: Gateway, options: PortOptions): Promise<ServedGateway> {
  const somePort = v.pipe(wholeNumber, v.maxValue(65_535, "expected a port from 0 to 65535"));
  checkOptions("serve", { host: optionalText, port: v.optional(somePort) }, options);
  const { host = "127.0.0.1", port = 8787 } = options;
  if (!(gateway instanceof Object && "serve" in gateway)) {
    throw new TypeError("Cannot serve the gateway: expected what createGateway resolves with");
  }
  const opened = gateway as ProcessGateway;
  const names = { host: "host", port: "port" };
  const served = await opened.serve(http, { host, port, metricsPort: null, names });
  return { url: served.url, firstKey: await opened.firstKey(), stop: () => served.stop() };
}

export interface MigrateOptions {
  readonly database: DatabaseAdapter;
  readonly features: readonly Feature[];
}

/**
 * Applies the gateway's migrations and those of the features, as the owner of the tables. Safe to repeat, and when several processes
 * do it at once. Rejects with `UsageError` that names every table without `tenantPolicy`.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  checkOptions("migrate", { database: adapter, features: featureList }, options);
  const { database, features } = options;
  if (database.migrate !== undefined) return database.migrate(features);
  throw new UsageError(["database: expected postgres({ url }) with the owner's URL"], { heading: "Cannot migrate" });
}
