import type { Gateway } from "../gateway_options.ts";
import { denoHttp } from "../runtime/deno_http.ts";
import { serveOn, type PortOptions, type ServedGateway } from "./process.ts";

/** Exports of `scanstream/gateway` on Deno. */

export * from "./portable.ts";
export { createGateway, migrate, type MigrateOptions, type PortOptions, type ServedGateway } from "./process.ts";

/** Gives the gateway a port. Rejects with `UsageError` for an address that cannot be listened on. */
export async function serve(gateway: Gateway, options: PortOptions = {}): Promise<ServedGateway> {
  return serveOn(denoHttp, gateway, options);
}
