import * as v from "valibot";
import { deliveryIdPattern, isEventType } from "../event.ts";
import { verbs } from "../verbs.ts";

/** What a producer publishes over HTTP. `encodeEvent` checks it, and the size of the data with it. */

const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);

const entries = {
  type: v.pipe(
    v.string(),
    v.maxLength(200),
    v.check((type) => isEventType(type)),
    v.metadata({ pattern: `^[a-z][a-z0-9_]*\\.(?:${verbs.join("|")})$` }),
    v.description("`<resource>.<verb>`"),
  ),
  data: v.pipe(
    v.record(v.string(), v.union([scalar, v.array(scalar)])),
    v.description("Flat; at most 64 KiB as JSON in UTF-8"),
  ),
  delivery_id: v.pipe(
    v.exactOptional(v.pipe(v.string(), v.regex(deliveryIdPattern))),
    v.description("`<producer>.<n>`, with n rising: an event that is sent again under its id is passed on once"),
  ),
};

export const newEventSchema = v.pipe(
  v.object(entries),
  v.metadata({
    description: "An event whose type ends in `.end` carries the UUID of its resource as `<resource>_id`.",
    not: { required: ["events"] },
  }),
);

export const maxBatchEvents = 500;
export const batchSizeMessage = `expected an array of 1 to ${maxBatchEvents} events`;

/** What a publish request is answered with: for one event its type, for a batch how many they were. */
export const publishedSchema = v.union([
  v.object({ channel: v.string(), type: v.string() }),
  v.object({ channel: v.string(), count: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
]);
