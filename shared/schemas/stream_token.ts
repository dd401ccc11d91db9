import * as v from "valibot";
import { fieldMessage, uuid } from "./primitives.ts";

const pathMessage = "expected the path of an event stream, like /api/v1/event-stream";

export const streamTokenRequestSchema = v.pipe(
  v.strictObject(
    {
      event_stream: v.exactOptional(
        v.pipe(
          v.string(pathMessage),
          v.maxLength(8192, pathMessage),
          v.description("Path and query of any event stream of this gateway"),
        ),
      ),
      scan_id: v.exactOptional(v.pipe(uuid("expected the UUID of a scan"), v.description("In place of a scan's path"))),
    },
    fieldMessage,
  ),
  v.check(
    (body) => (body.event_stream === undefined) !== (body.scan_id === undefined),
    "expected either event_stream or scan_id",
  ),
  v.metadata({ oneOf: [{ required: ["event_stream"] }, { required: ["scan_id"] }] }),
);
export const streamTokenSchema = v.object({ access_token: v.string(), expires_in: v.literal(60) });
