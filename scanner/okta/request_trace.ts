import type { Clock } from "./clock.ts";
import type { HttpRequest, HttpTransport } from "./http_transport.ts";
import { NetworkError } from "./network_error.ts";

/** Callbacks for requests and waits. It sees no header, no form and no answer, so it can show no secret. */
export interface RequestTrace {
  requestEnded(request: TracedRequest): void;
  /** A wait begins, as long as it takes as far as is known now. */
  waitBegun(wait: { readonly reason: "rate limit" | "retry"; readonly ms: number }): void;
}

export interface TracedRequest {
  readonly method: HttpRequest["method"];
  /** Part of its query only what selects and pages openly: a cursor or a search text stands as `…`. */
  readonly path: string;
  /** Null: no answer, and `problem` says why. */
  readonly status: number | null;
  readonly problem: string | null;
  readonly ms: number;
}

const openParameters: ReadonlySet<string> = new Set(["expand", "limit", "sortOrder", "type"]);

function tracedPath(path: string): string {
  const [place = "", query] = path.split("?", 2);
  if (query === undefined) return place;
  const shown = query.split("&").map((parameter) => {
    const [name = "", value] = parameter.split("=", 2);
    return value === undefined || openParameters.has(name) ? parameter : `${name}=…`;
  });
  return `${place}?${shown.join("&")}`;
}

export function traceRequests(http: HttpTransport, trace: RequestTrace, clock: Clock): HttpTransport {
  return {
    async send(request, signal) {
      const { method } = request;
      const path = tracedPath(request.path);
      const startedAtMs = clock.nowMs();
      const ended = (status: number | null, problem: string | null) =>
        trace.requestEnded({ method, path, status, problem, ms: clock.nowMs() - startedAtMs });
      try {
        const response = await http.send(request, signal);
        ended(response.status, null);
        return response;
      } catch (error) {
        ended(null, error instanceof NetworkError ? error.message : signal.aborted ? "interrupted" : "not sent");
        throw error;
      }
    },
    close: () => http.close(),
  };
}
