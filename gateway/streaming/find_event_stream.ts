import type { EventStreamRoute } from "./define_event_stream.ts";
import { toStreamTarget, type RequestedStream } from "./requested_stream.ts";

/** Event streams by where they are mounted, below `/api/v1`. */
export type EventStreams = readonly (readonly [mount: string, EventStreamRoute])[];

/** The stream that a URL would open; null when it opens none. */
export function findEventStream(streams: EventStreams, url: URL): RequestedStream | null {
  const target = toStreamTarget(url);
  for (const [mount, { definition }] of streams) {
    if (definition.isFor?.(target.query) === false) continue;
    const params = matchPath(`/api/v1${mount === "/" ? "" : mount}${definition.path}`, url.pathname);
    if (params !== null) return { definition, params, target };
  }
  return null;
}

/** The values of the pattern's `:name` segments; null when the path is another one. */
function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const names = pattern.split("/");
  const values = path.split("/");
  if (names.length !== values.length) return null;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? "";
    if (name.startsWith(":") && value !== "") params[name.slice(1)] = value;
    else if (name !== value) return null;
  }
  return params;
}
