import type { SignInConfig } from "../../config.ts";
import type { GatewayOptions, WorkerBrokerAdapter, WorkerDatabaseAdapter } from "../../gateway_options.ts";

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

/** The class of Durable Objects that hold the streams. */
export type StreamsObjectClass<Environment> = new (
  state: unknown,
  environment: Environment,
) => { fetch(request: Request): Promise<Response> };

/** A Worker's variables, secrets and bindings. The variables are read by `parseWorkerConfig`. */
export interface WorkerEnvironment {
  /** The Durable Objects that hold the streams: class `StreamsObject`. */
  readonly STREAMS: ObjectNamespace;
  /** The live page and the OpenAPI document. */
  readonly ASSETS: Fetcher;
  readonly [variable: string]: unknown;
}

/** The part of a binding that the gateway uses, https://developers.cloudflare.com/workers/runtime-apis/bindings/ */
export interface Fetcher {
  fetch(request: Request): Promise<Response>;
}

/** Durable Objects by name. A stub belongs to the request that created it. */
export interface ObjectNamespace {
  idFromName(name: string): object;
  get(id: object): Fetcher;
}
