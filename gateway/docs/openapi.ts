import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import packageJson from "../../package.json" with { type: "json" };
import {
  newFindingsSchema,
  newScanSchema,
  scanUpdateSchema,
  streamTokenRequestSchema,
} from "../features/scans/schemas.ts";
import { responseSchemas } from "./response_schemas.ts";

/** One method of one path, as the page of documents shows it. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: unknown;
}

export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
  /** For every operation that says nothing of its own. */
  readonly security: NonNullable<Operation["security"]>;
}

/** The HTTP API, https://spec.openapis.org/oas/v3.1.1.html. Bodies are described by the schemas that check them. */
export function describeApi(): OpenApi {
  return {
    openapi: "3.1.1",
    info: {
      title: "scanstream gateway",
      version: packageJson.version,
      summary: "Compliance scans, streamed live to each tenant",
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
    },
    paths: {
      "/healthz": {
        get: { summary: "Is the process alive", security: [], responses: { 200: text("Alive", "application/json") } },
      },
      "/readyz": {
        get: {
          summary: "Do database and broker answer",
          security: [],
          responses: { 200: text("Ready", "application/json"), 503: problem("Not ready, with what is away") },
        },
      },
      "/metrics": {
        get: {
          summary: "Prometheus metrics",
          description: "To this machine only, or on METRICS_PORT.",
          security: [],
          responses: { 200: text("Metrics", "text/plain"), 403: problem("Not from this machine") },
        },
      },
      "/api/v1/scans": {
        post: {
          summary: "Register a scan",
          requestBody: body(newScanSchema, { required: false }),
          responses: {
            201: json("Scan", "Registered; `Location` names it"),
            ...refusals(400, 401, 403, 413, 415, 422, 503),
          },
        },
        get: {
          summary: "List scans, newest first",
          parameters: [limitParameter, cursorParameter],
          responses: { 200: json("ScanPage", "One page"), ...refusals(400, 401, 403, 503) },
        },
      },
      "/api/v1/scans/{id}": {
        get: {
          summary: "Read a scan",
          parameters: [idParameter],
          responses: { 200: json("Scan", "The scan now"), ...refusals(401, 403, 404, 503) },
        },
        patch: {
          summary: "Report progress, or the end",
          description:
            "Also the producer's sign of life: after 15 minutes without one the scan is `expired`. The answer says in " +
            "`cancel_requested` whether to stop. State and wire are separate: PATCH first, then publish `scan.end`.",
          security: keyOnly,
          parameters: [idParameter],
          requestBody: body(scanUpdateSchema),
          responses: { 200: json("Scan", "The scan now"), ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 503) },
        },
      },
      "/api/v1/scans/{id}/cancel": {
        post: {
          summary: "Ask the scanner to stop",
          parameters: [idParameter],
          responses: { 202: json("Scan", "Asked, now or before"), ...refusals(401, 403, 404, 409, 503) },
        },
      },
      "/api/v1/scans/{id}/findings": {
        get: {
          summary: "List a scan's findings",
          parameters: [idParameter, limitParameter, cursorParameter],
          responses: { 200: json("FindingPage", "One page"), ...refusals(400, 401, 403, 404, 503) },
        },
        post: {
          summary: "Store findings",
          description: "Idempotent by `fingerprint`: the same again replaces what was stored under it.",
          security: keyOnly,
          parameters: [idParameter],
          requestBody: body(newFindingsSchema),
          responses: {
            200: json("StoredFindings", "Stored"),
            ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 503),
          },
        },
      },
      "/api/v1/scans/{id}/event-stream": {
        get: {
          summary: "Follow a scan",
          description:
            "Server-sent events until `scan.end`; see /asyncapi.json. Nothing is replayed: read the scan again on every " +
            "`open`. `access_token` counts only when there is no Authorization header, and never holds an API key.",
          security: [{ user: [] }, { apiKey: [] }, { accessToken: [] }],
          parameters: [idParameter],
          responses: {
            200: text("The stream", "text/event-stream"),
            204: { description: "The scan has ended: do not reconnect" },
            ...refusals(401, 403, 404, 429, 503),
          },
        },
      },
      "/api/v1/stream-tokens": {
        post: {
          summary: "Get a token that opens one event stream",
          description:
            "For `EventSource`, whose URL is all it can send. Opens the stream for 60 s; the stream lives on.",
          requestBody: body(streamTokenRequestSchema),
          responses: { 200: json("StreamToken", "The token"), ...refusals(400, 401, 403, 404, 413, 415, 422, 503) },
        },
      },
      "/api/v1/channels/{channel}/events": {
        post: {
          summary: "Publish an event",
          description: "To a channel of the key's own tenant. 202 only once the broker has taken it.",
          security: keyOnly,
          parameters: [
            {
              ...idParameter,
              name: "channel",
              schema: { type: "string" },
              description: "<prefix>:<tenant_id>:<resource_id>",
            },
          ],
          requestBody: { required: true, content: { "application/json": { schema: reference("NewEvent") } } },
          responses: { 202: json("TakenEvent", "Handed over"), ...refusals(400, 401, 403, 413, 415, 422, 503) },
        },
      },
    },
    components: {
      schemas: responseSchemas,
      securitySchemes: {
        user: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "`Authorization: Api-Key <key>`",
        },
        accessToken: { type: "apiKey", in: "query", name: "access_token", description: "A JWT or a stream token" },
      },
    },
    security: [{ user: [] }, { apiKey: [] }],
  };
}

const keyOnly = [{ apiKey: [] }];

const idParameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The scan's id",
  schema: { type: "string", format: "uuid" },
};

const limitParameter = {
  name: "limit",
  in: "query",
  schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
};

const cursorParameter = {
  name: "cursor",
  in: "query",
  description: "`next_cursor` of the page before",
  schema: { type: "string" },
};

const refusalTexts: Readonly<Record<number, string>> = {
  400: "Broken JSON, limit or cursor",
  401: "No or bad credentials",
  403: "Not permitted",
  404: "No such scan in this tenant",
  409: "The scan has ended",
  413: "Too large",
  415: "Not JSON",
  422: "Fields that are wrong, each named",
  429: "Too many streams of this tenant; `Retry-After` says when",
  503: "Database or broker away; `Retry-After` says when",
};

function refusals(...statuses: readonly number[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(statuses.map((status) => [status, problem(refusalTexts[status] ?? "Refused")]));
}

function problem(description: string): unknown {
  return { description, content: { "application/problem+json": { schema: reference("Problem") } } };
}

function json(schema: keyof typeof responseSchemas, description: string): unknown {
  return { description, content: { "application/json": { schema: reference(schema) } } };
}

function text(description: string, contentType: string): unknown {
  return { description, content: { [contentType]: {} } };
}

function body(schema: GenericSchema, { required = true } = {}): unknown {
  // What only code can check is said in words elsewhere.
  const { $schema: _dialect, ...described } = toJsonSchema(schema, { errorMode: "ignore" });
  return { required, content: { "application/json": { schema: described } } };
}

function reference(name: keyof typeof responseSchemas): unknown {
  return { $ref: `#/components/schemas/${name}` };
}
