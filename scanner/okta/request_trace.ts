import type { HttpRequest } from "./http_transport.ts";

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

/** A path with the values of its query hidden, except of those that select and page openly. */
export function tracedPath(path: string): string {
  return path.replaceAll(/([?&](?!(?:expand|limit|sortOrder|type)=)[^=&]+=)[^&]*/g, "$1…");
}
