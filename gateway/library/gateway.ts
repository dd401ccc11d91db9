import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Gateway } from "../gateway_options.ts";
import { serveOn, type PortOptions, type ServedGateway } from "./process.ts";

/** Exports of `scanstream/gateway` on Node. */

export * from "./portable.ts";
export { createGateway, migrate, type MigrateOptions, type PortOptions, type ServedGateway } from "./process.ts";

/** Gives the gateway a port. Rejects with `UsageError` for an address that cannot be listened on, and without `@hono/node-server`. */
export async function serve(gateway: Gateway, options: PortOptions = {}): Promise<ServedGateway> {
  const { nodeHttp } = await import("../runtime/node_http.ts").catch((cause: unknown) => {
    if (!hasCode(cause, "ERR_MODULE_NOT_FOUND") || !String(cause).includes("@hono/node-server")) throw cause;
    throw new UsageError(["@hono/node-server is not installed: run `npm install @hono/node-server`"], {
      heading: "Cannot serve the gateway",
      cause,
    });
  });
  return serveOn(nodeHttp, gateway, options);
}
