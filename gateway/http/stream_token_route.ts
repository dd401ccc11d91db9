import type { Hono } from "hono";
import * as v from "valibot";
import { described, uuid } from "../../shared/schemas/primitives.ts";
import { streamTokenSeconds } from "../auth/stream_tokens.ts";
import type { EventStreams } from "../features/features.ts";
import { findEventStream, isSnapshotRequested, type RequestedStream } from "../streaming/event_stream.ts";
import { findChannels } from "../streaming/channel_manager.ts";
import { component, json, problem } from "../description/operation.ts";
import type { Allowed } from "./allow.ts";
import type { Dependencies } from "./dependencies.ts";
import { invalidField } from "./problem.ts";
import { defineResource } from "./resource.ts";

const pathMessage = "expected the path of an event stream, like /api/v1/event-stream";

const streamTokenRequestSchema = v.pipe(
  v.strictObject({
    event_stream: v.exactOptional(
      described(v.string(pathMessage), "Path and query of any event stream of this gateway"),
    ),
    scan_id: v.exactOptional(described(uuid("expected the UUID of a scan"), "In place of a scan's path")),
  }),
  v.check(
    (body) => (body.event_stream === undefined) !== (body.scan_id === undefined),
    "expected either event_stream or scan_id",
  ),
  v.metadata({ oneOf: [{ required: ["event_stream"] }, { required: ["scan_id"] }] }),
);
const streamTokenSchema = v.object({ access_token: v.string(), expires_in: v.literal(streamTokenSeconds) });

/**
 * Tokens that open one event stream each. Whoever may not open it gets no token: its own `getChannels` decides. Of a
 * resource that has ended there is one, and the stream says that it has.
 */
export function streamTokenRoute(dependencies: Dependencies, eventStreams: EventStreams): Hono<Allowed> {
  const { database, streamTokens } = dependencies;
  const resource = defineResource({ tag: "streams", what: "resource" });
  resource.on("POST /stream-tokens", "createStreamToken", {
    allow: "read",
    summary: "Get a token that opens one event stream",
    description:
      "For `EventSource`, which cannot send headers. Valid for 60 s to open the stream, which then stays open. Bound to path and " +
      "query, without `snapshot`. Answered as the stream itself would be; of a resource that has ended there is a token, " +
      "and its stream is 204.",
    body: { schema: streamTokenRequestSchema, example: { event_stream: "/api/v1/event-stream" } },
    answers: {
      200: json(component("StreamToken", streamTokenSchema), "The token"),
      404: problem("No such resource in this tenant"),
    },
    handle: async ({ principal, body }) => {
      const stream = toRequestedStream(eventStreams, body);
      await findChannels(stream, principal, database);
      const accessToken = await streamTokens.issue(principal, stream.name);
      return { access_token: accessToken, expires_in: streamTokenSeconds };
    },
  });
  return resource.routes;
}

/** Throws `InvalidBody` for a text that is not the path of an event stream. */
function toRequestedStream(
  eventStreams: EventStreams,
  { event_stream: path, scan_id: scanId }: v.InferOutput<typeof streamTokenRequestSchema>,
): RequestedStream {
  const named = path ?? `/api/v1/scans/${scanId}/event-stream`;
  // Two slashes, or a slash and a backslash, begin a host.
  const url = /^\/(?![/\\])/.test(named) && URL.canParse(named, base) ? new URL(named, base) : null;
  const stream = url?.origin === base ? findEventStream(eventStreams, url) : null;
  if (url !== null && stream !== null) {
    isSnapshotRequested(url, stream.definition);
    return stream;
  }
  const detail = `is ${JSON.stringify(named.slice(0, 200))}: expected the path of an event stream of this gateway`;
  throw invalidField("/event_stream", detail);
}

const base = "http://gateway.internal";
