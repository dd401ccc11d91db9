import { withTimeout } from "../../shared/with_timeout.ts";
import { createReadableStreamSinks } from "../streaming/sinks/readable_stream_sink.ts";
import {
  listenProblem,
  maxUnaccepted,
  refuseRequest,
  type Fetch,
  type HttpRuntime,
  type ListenAddress,
} from "./http_runtime.ts";

type ServeInfo = Deno.ServeHandlerInfo<Deno.NetAddr>;

/**
 * HTTP on Deno: `Deno.serve`, and streams are the bodies of web-standard responses. It cannot close the connection of a client that
 * reads nothing or sends slowly: the proxy before it has to.
 */
export const denoHttp: HttpRuntime = {
  createSink: createReadableStreamSinks({ completed: (info) => (info as ServeInfo).completed }),
  peerAddress: (info) => (info as ServeInfo).remoteAddr.hostname,
  onClosed: (info, release) => void (info as ServeInfo).completed.then(release, release),
  endsIdle: true,
  async serve(fetch, address) {
    const server = listen(fetch, address);
    return {
      port: server.addr.port,
      // The socket of a client that reads nothing ends with the process.
      close: ({ withinMs }) => withTimeout(server.shutdown(), withinMs).catch(() => undefined),
    };
  },
};

function listen(fetch: Fetch, address: ListenAddress): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve(
      // Also called with the error of a stream that was destroyed, whose answer nobody gets.
      { hostname: address.host, port: address.port, tcpBacklog: maxUnaccepted, onListen() {}, onError: refuseRequest },
      (request, info) => {
        // Deno puts any Host into the URL, also one with a path or a query, and leaves dot segments in the path.
        const url = /[/\\?#@]/.test(request.headers.get("host") ?? "") ? null : URL.parse(request.url);
        if (url === null) return refuseRequest(null);
        return fetch(url.href === request.url ? request : new Request(url, request), info);
      },
    );
  } catch (error) {
    // The errors of unknown and invalid host names have no code.
    const isUnknownHost = error instanceof Error && /^(failed to lookup|invalid host)/.test(error.message);
    throw listenProblem(isUnknownHost ? Object.assign(error, { code: "ENOTFOUND" }) : error, address);
  }
}
