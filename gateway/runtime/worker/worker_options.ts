import type { SignInConfig } from "../../config.ts";
import type { GatewayOptions, WorkerBrokerAdapter, WorkerDatabaseAdapter } from "../../gateway_options.ts";
import type { Fetcher, ObjectNamespace } from "./bindings.ts";

export interface WorkerOptions extends Omit<GatewayOptions, "trustedProxyHops"> {
  readonly database: WorkerDatabaseAdapter;
  readonly broker: WorkerBrokerAdapter;
  readonly streamTokenSecret: string;
  /** The binding of the `StreamsObject` class. */
  readonly streams: ObjectNamespace;
  /** How many objects share the streams of a tenant. Default 1. */
  readonly shardsPerTenant?: number;
  /** The live page and the OpenAPI document. Default: none. */
  readonly assets?: Fetcher;
  readonly signIn?: SignInConfig | null;
}
