import { toJsonSchema } from "@valibot/to-json-schema";
import { resolver, type DescribeRouteOptions } from "hono-openapi";
import * as v from "valibot";
import { problemSchema } from "../../../shared/schemas/problem.ts";
import { maxCursorLength, defaultLimit, maxLimit } from "../paging.ts";

/** A feature's description of itself, in its one `description.ts`. The documents are merged from all of them. */
export interface FeatureDescription {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By method and path, as the routes have them: `GET /api/v1/scans/:id`. */
  readonly operations: Readonly<Record<string, DescribeRouteOptions>>;
  readonly channels: readonly ChannelDescription[];
}

/** A kind of channel, and the events on it. */
export interface ChannelDescription {
  /** The first segment of its name. */
  readonly prefix: string;
  /** The resource that the name's last segment identifies, as `scan_id`. */
  readonly resource: string;
  readonly title: string;
  readonly description: string;
  /** By type. */
  readonly events: Readonly<Record<string, EventDescription>>;
  /** Types that another channel describes, and that are published here too. */
  readonly sharedEvents?: readonly string[];
}

interface EventDescription {
  readonly summary: string;
  /** Schema of the payload. */
  readonly schema: v.GenericSchema;
}

type Security = NonNullable<DescribeRouteOptions["security"]>;
type Responses = NonNullable<DescribeRouteOptions["responses"]>;
type Parameter = NonNullable<DescribeRouteOptions["parameters"]>[number];

/** For an operation that only API keys may use, and for one that needs no credentials. */
export const keyOnly: Security = [{ apiKey: [] }];
export const withoutCredentials: Security = [];
/** For an event stream: `EventSource` sends its token in the query. */
export const streamSecurity: Security = [{ user: [] }, { apiKey: [] }, { accessToken: [] }];

/** The schema as a component that the document describes once. */
export function component<Schema extends v.GenericSchema>(name: string, schema: Schema) {
  return v.pipe(schema, v.metadata({ ref: name }) as v.MetadataAction<v.InferOutput<Schema>, { readonly ref: string }>);
}

/** A schema on its own, for parameters and payloads. A check that JSON Schema cannot express is left to the texts. */
export function toInlineSchema(schema: v.GenericSchema): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...described } = toJsonSchema(schema, { errorMode: "ignore" });
  return described;
}

export function pathParameter(name: string, description: string, schema: v.GenericSchema): Parameter {
  return { name, in: "path", required: true, description, schema: toInlineSchema(schema) };
}

export const pageParameters: Parameter[] = [
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit } },
  {
    name: "cursor",
    in: "query",
    description: "`next_cursor` of the page before",
    schema: { type: "string", minLength: 1, maxLength: maxCursorLength, pattern: "^[A-Za-z0-9_-]+$" },
  },
];

/** Added to every event stream that has a snapshot. */
export const snapshotParameter: Parameter = {
  name: "snapshot",
  in: "query",
  description:
    "1: begins with the state of what is followed, as `*.snapshot` events after `: open`, and the comment `: snapshot complete`",
  schema: { type: "string", enum: ["1"] },
};

export function jsonBody(schema: v.GenericSchema, example: unknown): DescribeRouteOptions["requestBody"] & object {
  return { required: true, content: { "application/json": { schema: resolver(schema), example } } };
}

interface ResponseOptions {
  readonly schema?: v.GenericSchema;
  readonly headers?: readonly (keyof typeof responseHeaders)[];
  readonly example?: unknown;
}

export function json(schema: v.GenericSchema, description: string, options: ResponseOptions = {}): Responses[string] {
  return response("application/json", description, { schema, ...options });
}

const Problem = component("Problem", problemSchema);

export function problem(description: string, options: ResponseOptions = {}): Responses[string] {
  return response("application/problem+json", description, { schema: Problem, ...options });
}

/** What a list answers, one item of it shown, and how it may be refused. */
export function listAnswer(schema: v.GenericSchema, item: unknown, description = "One page"): Responses {
  return {
    200: json(schema, description, { example: { items: [item], next_cursor: null } }),
    ...refusals(400, 401, 403, 503),
  };
}

/** What an event stream answers, and how it may be refused. `ended` says what 204 means. */
export function streamAnswer(ended: string): Responses {
  return {
    200: response("text/event-stream", "The stream", { headers: ["Cache-Control"] }),
    204: emptyResponse(ended),
    ...refusals(400, 401, 403, 429, 503),
  };
}

/** Without a schema it is text. */
export function response(contentType: string, description: string, options: ResponseOptions = {}): Responses[string] {
  const { schema = v.string(), headers, example } = options;
  const content = { schema: resolver(schema), ...(example === undefined ? {} : { example }) };
  return { ...emptyResponse(description, headers), content: { [contentType]: content } };
}

export function emptyResponse(description: string, headers: ResponseOptions["headers"] = []) {
  const names = ["X-Request-Id", ...headers];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
}

/** How an operation may be refused, by status; a text of the feature's own wins. */
export function refusals(...statuses: readonly (keyof typeof refusalResponses)[]): Responses {
  return Object.fromEntries(statuses.map((status) => [status, refusalResponses[status]]));
}

const refusalResponses = {
  400: problem("Broken JSON, or a query that is not valid"),
  401: problem("No or bad credentials", { headers: ["WWW-Authenticate"] }),
  403: problem("Not permitted"),
  413: problem("Too large"),
  415: problem("Not JSON", { headers: ["Accept"] }),
  422: problem("Fields that are wrong, each named"),
  429: problem("Too many streams of this tenant", { headers: ["Retry-After"] }),
  503: problem("Database or broker unavailable", { headers: ["Retry-After"] }),
};

/** How an operation with a JSON body may be refused. */
export const bodyRefusals = refusals(400, 401, 403, 413, 415, 422, 503);

export const responseHeaders = {
  "X-Request-Id": {
    description: "The request's own when it had one; the log names it",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
  },
  Location: {
    description: "The path of what was made",
    required: true,
    schema: { type: "string", format: "uri-reference" },
  },
  ETag: { description: "Of this body, and of no other", required: true, schema: { type: "string" } },
  "Retry-After": { description: "In seconds", required: true, schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": {
    description: 'Twice: `Bearer realm="scanstream"` and `Api-Key realm="scanstream"`',
    required: true,
    schema: { type: "string" },
  },
  Accept: { description: "application/json", required: true, schema: { type: "string" } },
  "Cache-Control": { description: "no-store, no-transform", required: true, schema: { type: "string" } },
} as const;
