import { createUpstashBroker } from "../../shared/brokers/upstash.ts";
import type { WorkerBrokerAdapter } from "../gateway_options.ts";

export interface UpstashOptions {
  /** `https://<name>.upstash.io` */
  readonly url: string;
  readonly token: string;
  /** Part of every channel's key. Default 2. */
  readonly database?: number;
}

/** Upstash Redis over REST, on every runtime. */
export function upstash({ url, token, database = 2 }: UpstashOptions): WorkerBrokerAdapter {
  return { open: () => createUpstashBroker({ url, token, database }) };
}
