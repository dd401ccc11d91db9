import * as v from "valibot";
import { deliveryIdPattern, isEventType, maxBatchEvents, verbs } from "../../shared/event.ts";
import { count, described, type Output } from "../../shared/schemas/primitives.ts";

/** An event that a producer publishes over HTTP. `encodeEvent` checks it, and the size of the data with it. */

const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);

const entries = {
  type: v.pipe(
    v.string(),
    v.maxLength(200),
    v.check((type) => isEventType(type)),
    v.metadata({ pattern: `^[a-z][a-z0-9_]*\\.(?:${verbs.join("|")})$` }),
    v.description("`<resource>.<verb>`"),
  ),
  data: described(v.record(v.string(), v.union([scalar, v.array(scalar)])), "Flat; at most 64 KiB as JSON in UTF-8"),
  delivery_id: described(
    v.exactOptional(v.pipe(v.string(), v.regex(deliveryIdPattern))),
    "`<producer>.<n>`, with n rising: an event that is sent again under its id is passed on once. Required where events are " +
      "stored; there n begins at 1 and rises by 1",
  ),
};

export const newEventSchema = v.pipe(
  v.object(entries),
  v.metadata({
    description: "An event whose type ends in `.end` carries the UUID of its resource as `<resource>_id`.",
    not: { required: ["events"] },
  }),
);

export const batchSizeMessage = `expected an array of 1 to ${maxBatchEvents} events`;

/** The answer to a publish request. */
export const publishedSchema = v.object({
  stored: described(
    count,
    "How many of the events were stored now; 0 where they had been, and on channels of which nothing is stored",
  ),
  live: described(
    v.boolean(),
    "False: not all were sent to the open streams, which are closed within 30 s, so that their clients read what is stored",
  ),
});

export type Published = Output<typeof publishedSchema>;
