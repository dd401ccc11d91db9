import { createUpstashBroker } from "../../shared/brokers/upstash.ts";
import { checkOptions, optionalNumber, someText } from "../check_options.ts";
import type { WorkerBrokerAdapter } from "../gateway_options.ts";

export interface UpstashOptions {
  /** `https://<name>.upstash.io` */
  readonly url: string;
  readonly token: string;
  /** Part of every channel's key. Default 2. */
  readonly database?: number;
}

/** Upstash Redis over REST, on every runtime. */
export function upstash(options: UpstashOptions): WorkerBrokerAdapter {
  checkOptions("upstash", { url: someText, token: someText, database: optionalNumber }, options);
  const { url, token, database = 2 } = options;
  return { open: () => createUpstashBroker({ url, token, database }) };
}
