import { newFindingsSchema, newScanSchema, scanUpdateSchema } from "../../../shared/schemas/scan_requests.ts";
import { streamTokenRequestSchema } from "../../../shared/schemas/stream_token.ts";
import { requestExamples, responseExamples } from "./examples.ts";
import {
  answer,
  anybody,
  body,
  empty,
  idParameter,
  json,
  keyOnly,
  pageParameters,
  problem,
  reference,
  refusals,
  type Operation,
} from "./openapi_parts.ts";
import { channelName } from "./request_schemas.ts";

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const statusPaths: Paths = {
  "/healthz": {
    get: {
      operationId: "getHealth",
      tags: ["status"],
      summary: "Is the process alive",
      security: anybody,
      responses: { 200: json("Health", "Alive", { example: responseExamples.Health }) },
    },
  },
  "/readyz": {
    get: {
      operationId: "getReadiness",
      tags: ["status"],
      summary: "Do database and broker answer",
      description: "Also not ready from SIGTERM on, for DRAIN_DELAY_SECONDS before the port is closed.",
      security: anybody,
      responses: {
        200: json("Ready", "Ready", { example: responseExamples.Ready }),
        503: problem("Not ready, with what is away", { schema: "NotReady", headers: ["Retry-After"] }),
      },
    },
  },
  "/metrics": {
    get: {
      operationId: "getMetrics",
      tags: ["status"],
      summary: "Prometheus metrics",
      description: "To this machine only, or on METRICS_PORT.",
      security: anybody,
      responses: { 200: answer("Metrics", "text/plain"), 403: problem("Not from this machine") },
    },
  },
};

const scanPaths: Paths = {
  "/api/v1/scans": {
    post: {
      operationId: "createScan",
      tags: ["scans"],
      summary: "Register a scan",
      requestBody: body(newScanSchema, requestExamples.newScan, { required: false }),
      responses: {
        201: json("Scan", "Registered", { headers: ["Location"], example: responseExamples.Scan }),
        ...refusals(400, 401, 403, 413, 415, 422, 503),
      },
    },
    get: {
      operationId: "listScans",
      tags: ["scans"],
      summary: "List scans, newest first",
      parameters: pageParameters,
      responses: {
        200: json("ScanPage", "One page", { example: responseExamples.ScanPage }),
        ...refusals(400, 401, 403, 503),
      },
    },
  },
  "/api/v1/scans/{id}": {
    get: {
      operationId: "getScan",
      tags: ["scans"],
      summary: "Read a scan",
      parameters: [idParameter],
      responses: {
        200: json("Scan", "The scan now", { example: responseExamples.Scan }),
        ...refusals(401, 403, 404, 503),
      },
    },
    put: {
      operationId: "putScan",
      tags: ["scans"],
      summary: "Register a scan under an id of the client's",
      description:
        "Sent again with the same body, it is the same scan: a request whose answer was lost makes no second one.",
      security: keyOnly,
      parameters: [idParameter],
      requestBody: body(newScanSchema, requestExamples.newScan, { required: false }),
      responses: {
        200: json("Scan", "Registered before, with the same body", { headers: ["Location"] }),
        201: json("Scan", "Registered", { headers: ["Location"], example: responseExamples.Scan }),
        ...refusals(400, 401, 403, 404),
        409: problem("Registered before, with another body"),
        ...refusals(410, 413, 415, 422, 503),
      },
    },
    patch: {
      operationId: "updateScan",
      tags: ["scans"],
      summary: "Report progress, or the end",
      description:
        "Also the producer's sign of life: after 15 minutes without one the scan is `expired`. The answer says in " +
        "`cancel_requested` whether to stop. With a status that ends the scan, the gateway publishes `scan.end`. " +
        "`pass`, `fail` and `manual` are together no more than `checks_done`, and that no more than `checks_total` " +
        "unless it is 0, which is: not known. What is left out is judged by what is stored.",
      security: keyOnly,
      parameters: [idParameter],
      requestBody: body(scanUpdateSchema, requestExamples.scanUpdate),
      responses: {
        200: json("Scan", "The scan now", { example: responseExamples.Scan }),
        ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 503),
      },
    },
  },
  "/api/v1/scans/{id}/cancel": {
    post: {
      operationId: "cancelScan",
      tags: ["scans"],
      summary: "Ask the scanner to stop",
      parameters: [idParameter],
      responses: { 202: json("Scan", "Asked, now or before"), ...refusals(401, 403, 404, 409, 503) },
    },
  },
  "/api/v1/scans/{id}/findings": {
    get: {
      operationId: "listFindings",
      tags: ["scans"],
      summary: "List a scan's findings",
      parameters: [idParameter, ...pageParameters],
      responses: {
        200: json("FindingPage", "One page", { example: responseExamples.FindingPage }),
        ...refusals(400, 401, 403, 404, 503),
      },
    },
    post: {
      operationId: "storeFindings",
      tags: ["scans"],
      summary: "Store findings",
      description: "Idempotent by `fingerprint`: the same again replaces what was stored under it.",
      security: keyOnly,
      parameters: [idParameter],
      requestBody: body(newFindingsSchema, requestExamples.newFindings),
      responses: {
        200: json("StoredFindings", "Stored", { example: responseExamples.StoredFindings }),
        ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 503),
      },
    },
  },
};

const streamPaths: Paths = {
  "/api/v1/scans/{id}/event-stream": {
    get: {
      operationId: "followScan",
      tags: ["streams"],
      summary: "Follow a scan",
      description:
        "Server-sent events until `scan.end`; see /asyncapi.json. Nothing is replayed: read the scan again on every " +
        "`open`. `access_token` counts only when there is no Authorization header, and never holds an API key.",
      security: [{ user: [] }, { apiKey: [] }, { accessToken: [] }],
      parameters: [idParameter],
      responses: {
        200: answer("The stream", "text/event-stream", { headers: ["Cache-Control"] }),
        204: empty("The scan has ended: do not reconnect"),
        ...refusals(401, 403, 404, 429, 503),
      },
    },
  },
  "/api/v1/stream-tokens": {
    post: {
      operationId: "createStreamToken",
      tags: ["streams"],
      summary: "Get a token that opens one event stream",
      description: "For `EventSource`, whose URL is all it can send. Opens the stream for 60 s; the stream lives on.",
      requestBody: body(streamTokenRequestSchema, requestExamples.streamTokenRequest),
      responses: {
        200: json("StreamToken", "The token", { example: responseExamples.StreamToken }),
        ...refusals(400, 401, 403, 404, 413, 415, 422, 503),
      },
    },
  },
};

const publishingPaths: Paths = {
  "/api/v1/channels/{channel}/events": {
    post: {
      operationId: "publishEvents",
      tags: ["publishing"],
      summary: "Publish an event, or a batch of them",
      description:
        "To a channel of the key's own tenant. 202 only once the broker has taken all of them. A batch is at most 500 " +
        "events, and a body at most 1 MiB.",
      security: keyOnly,
      parameters: [
        {
          name: "channel",
          in: "path",
          required: true,
          schema: channelName,
          description: "<prefix>:<tenant_id>:<resource_id>",
        },
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { anyOf: [reference("NewEvent"), reference("NewEvents")] },
            examples: {
              event: { summary: "One event", value: requestExamples.newEvent },
              batch: { summary: "A batch", value: requestExamples.newEvents },
            },
          },
        },
      },
      responses: {
        202: json("TakenEvents", "Handed over", { example: responseExamples.TakenEvents }),
        ...refusals(400, 401, 403, 413, 415, 422, 503),
      },
    },
  },
};

export const paths: Paths = { ...statusPaths, ...scanPaths, ...streamPaths, ...publishingPaths };
