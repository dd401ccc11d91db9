import { tenantEventStream } from "./channels.ts";
import { tenantPrefix } from "./events.ts";

/** The stream of a whole tenant, as the gateway mounts it. */
export const tenant = { prefix: tenantPrefix, eventStreams: { "/": tenantEventStream } };
