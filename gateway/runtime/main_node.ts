import type { GatewayIo } from "../../command_line/command_io.ts";
import { nodeHttp } from "./node_http.ts";
import { serve as serveGateway } from "./serve.ts";

/** `scanstream serve`. */
export function serve(io: GatewayIo): Promise<number> {
  return serveGateway(io, nodeHttp);
}
