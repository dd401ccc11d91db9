/** The part of Cloudflare's runtime that the gateway uses, https://developers.cloudflare.com/workers/runtime-apis/ */

/** A Worker's variables, secrets and bindings. The variables are read by `parseWorkerConfig`. */
export interface WorkerEnvironment {
  /** The Durable Objects that hold the streams: class `StreamsObject`. */
  readonly STREAMS: ObjectNamespace;
  /** The live page and the OpenAPI document. */
  readonly ASSETS: Fetcher;
  readonly [variable: string]: unknown;
}

export interface Fetcher {
  fetch(request: Request): Promise<Response>;
}

/** Durable Objects by name. A stub belongs to the request that created it. */
export interface ObjectNamespace {
  idFromName(name: string): ObjectId;
  get(id: ObjectId): Fetcher;
}

export interface ObjectId {
  toString(): string;
}
