import * as v from "valibot";
import { channelNamePattern } from "../../../shared/channel_name.ts";
import { batchSizeMessage, maxBatchEvents, newEventSchema, publishedSchema } from "../../../shared/schemas/event.ts";
import { sessionSchema } from "../../../shared/schemas/session.ts";
import { streamTokenRequestSchema, streamTokenSchema } from "../../../shared/schemas/stream_token.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import { healthSchema, notReadySchema, readySchema } from "../../../shared/schemas/status.ts";
import {
  bodyRefusals,
  component,
  json,
  jsonBody,
  keyOnly,
  pathParameter,
  problem,
  refusals,
  response,
  toInlineSchema,
  withoutCredentials,
  type FeatureDescription,
} from "./feature_description.ts";

/** What the gateway answers with any features. */

const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const channel = `scan:${tenantId}:${scanId}`;

const NewEvent = component("NewEvent", newEventSchema);
const NewEvents = component(
  "NewEvents",
  v.pipe(
    v.object({
      events: v.pipe(
        v.array(NewEvent),
        v.minLength(1, batchSizeMessage),
        v.maxLength(maxBatchEvents, batchSizeMessage),
      ),
    }),
    v.description("All of them are published, in order, or none"),
  ),
);

export const platformDescription: FeatureDescription = {
  tags: [
    { name: "status", description: "For load balancers and for Prometheus" },
    { name: "session", description: "Who the caller is" },
    { name: "streams", description: "Following what happens, live" },
    { name: "publishing", description: "For producers that have a key and no broker" },
  ],
  channels: [],
  operations: {
    "GET /healthz": {
      operationId: "getHealth",
      tags: ["status"],
      summary: "Is the process alive",
      security: withoutCredentials,
      responses: { 200: json(component("Health", healthSchema), "Alive", { example: { status: "ok" } }) },
    },
    "GET /readyz": {
      operationId: "getReadiness",
      tags: ["status"],
      summary: "Do database and broker answer",
      description: "Also not ready from SIGTERM on, for DRAIN_DELAY_SECONDS before the port is closed.",
      security: withoutCredentials,
      responses: {
        200: json(component("Ready", readySchema), "Ready", {
          example: { status: "ready", checks: { database: "ok", broker: "ok", draining: false } },
        }),
        503: problem("Not ready, with what is unavailable", {
          schema: component("NotReady", notReadySchema),
          headers: ["Retry-After"],
        }),
      },
    },
    "GET /metrics": {
      operationId: "getMetrics",
      tags: ["status"],
      summary: "Prometheus metrics",
      description: "To this machine only, or on METRICS_PORT.",
      security: withoutCredentials,
      responses: { 200: response("text/plain", "Metrics"), 403: problem("Not from this machine") },
    },
    "GET /api/v1/session": {
      operationId: "getSession",
      tags: ["session"],
      summary: "Who am I, and in which tenants",
      description:
        "For any valid credential. A token for several tenants is answered here without the header " +
        "`X-Tenant-Id` too; everywhere else it has to name one.",
      parameters: [
        {
          name: "X-Tenant-Id",
          in: "header",
          description: "With every request of a token for several tenants: which of them",
          schema: toInlineSchema(uuid("expected a UUID")),
        },
      ],
      responses: {
        200: json(component("Session", sessionSchema), "The caller", {
          example: {
            kind: "user",
            id: "alice@example.com",
            name: "Alice",
            scopes: null,
            expires_at: "2026-11-22T12:00:00.000Z",
            tenant: { id: tenantId, name: "Acme", role: "operator" },
            tenants: [{ id: tenantId, name: "Acme", role: "operator" }],
          },
        }),
        ...refusals(401, 403, 503),
      },
    },
    "POST /api/v1/stream-tokens": {
      operationId: "createStreamToken",
      tags: ["streams"],
      summary: "Get a token that opens one event stream",
      description:
        "For `EventSource`, whose URL is all it can send. Opens the stream for 60 s; the stream lives on. Bound to path and " +
        "query, without `snapshot`. Answered as the stream itself would be; of a resource that has ended there is a token, " +
        "and its stream is 204.",
      requestBody: jsonBody(streamTokenRequestSchema, { event_stream: "/api/v1/event-stream" }),
      responses: {
        200: json(component("StreamToken", streamTokenSchema), "The token", {
          example: { access_token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl", expires_in: 60 },
        }),
        ...bodyRefusals,
        404: problem("No such resource in this tenant"),
      },
    },
    "POST /api/v1/channels/:channel/events": {
      operationId: "publishEvents",
      tags: ["publishing"],
      summary: "Publish an event, or a batch of them",
      description:
        "To a channel of the key's own tenant. 202 only once the broker has taken all of them. A batch is at most 500 " +
        "events, and a body at most 1 MiB.",
      security: keyOnly,
      parameters: [
        pathParameter(
          "channel",
          "<prefix>:<tenant_id>:<resource_id>",
          v.pipe(v.string(), v.metadata({ pattern: channelNamePattern })),
        ),
      ],
      requestBody: jsonBody(v.union([NewEvent, NewEvents]), {
        events: [
          { type: "scan.start", data: { scan_id: scanId, checks_total: 29 }, delivery_id: "ci-4711.1" },
          { type: "scan.error", data: { scan_id: scanId, code: "rate_limit", detail: "" }, delivery_id: "ci-4711.2" },
        ],
      }),
      responses: {
        202: json(component("PublishedEvents", publishedSchema), "Handed over", {
          example: { channel, count: 2 },
        }),
        ...bodyRefusals,
      },
    },
  },
};
