import type { GenericSchema } from "valibot";
import { cursor, describeBody, uuid, type JsonSchema } from "./request_schemas.ts";
import type { responseSchemas } from "./response_schemas.ts";

/** The parts that descriptions of operations are made of. */

/** One method of one path, as the page of documents shows it. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly [Tag];
  readonly description?: string;
  readonly security?: Security;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Any of the schemes that are named will do. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[];

export type Tag = "status" | "scans" | "streams" | "publishing";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** For an operation that only API keys may use, and for one that asks nobody who they are. */
export const keyOnly: Security = [{ apiKey: [] }];
export const anybody: Security = [];

export const idParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The scan's id",
  schema: uuid,
};

export const pageParameters: readonly Parameter[] = [
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 200, default: 50 } },
  { name: "cursor", in: "query", description: "`next_cursor` of the page before", schema: cursor },
];

interface Refusal {
  readonly description: string;
  readonly headers?: readonly (keyof typeof headers)[];
}

const retryAfter = ["Retry-After"] as const;

const refusalTexts: Readonly<Record<number, Refusal>> = {
  400: { description: "Broken JSON, limit or cursor" },
  401: { description: "No or bad credentials", headers: ["WWW-Authenticate"] },
  403: { description: "Not permitted" },
  404: { description: "No such scan in this tenant" },
  409: { description: "The scan has ended" },
  410: { description: "The scan was deleted: its id is not used again" },
  413: { description: "Too large" },
  415: { description: "Not JSON", headers: ["Accept"] },
  422: { description: "Fields that are wrong, each named" },
  429: { description: "Too many streams of this tenant", headers: retryAfter },
  503: { description: "Database or broker away", headers: retryAfter },
};

/** How an operation may be refused, by status. */
export function refusals(...statuses: readonly number[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    statuses.map((status) => {
      const { description, headers: named = [] } = refusalTexts[status] ?? { description: "Refused" };
      return [status, problem(description, { headers: named })];
    }),
  );
}

interface AnswerOptions {
  readonly schema?: keyof typeof responseSchemas;
  readonly headers?: readonly (keyof typeof headers)[];
  readonly example?: unknown;
}

export function problem(description: string, { schema = "Problem", ...options }: AnswerOptions = {}): unknown {
  return answer(description, "application/problem+json", { schema, ...options });
}

export function json(
  schema: keyof typeof responseSchemas,
  description: string,
  options: Omit<AnswerOptions, "schema"> = {},
): unknown {
  return answer(description, "application/json", { schema, ...options });
}

export function answer(description: string, contentType: string, options: AnswerOptions = {}): unknown {
  const { schema, headers: named = [], example } = options;
  const content = {
    schema: schema === undefined ? { type: "string" } : reference(schema),
    ...(example === undefined ? {} : { example }),
  };
  return { description, headers: headersOf(named), content: { [contentType]: content } };
}

/** Answers without a body. */
export function empty(description: string): unknown {
  return { description, headers: headersOf([]) };
}

function headersOf(named: readonly (keyof typeof headers)[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(["X-Request-Id", ...named].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const headers = {
  "X-Request-Id": {
    description: "The request's own when it had one; the log names it",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
  },
  Location: { description: "The scan's path", required: true, schema: { type: "string", format: "uri-reference" } },
  "Retry-After": { description: "In seconds", required: true, schema: { type: "integer", minimum: 1 } },
  "WWW-Authenticate": {
    description: 'Twice: `Bearer realm="scanstream"` and `Api-Key realm="scanstream"`',
    required: true,
    schema: { type: "string" },
  },
  Accept: { description: "application/json", required: true, schema: { type: "string" } },
  "Cache-Control": { description: "no-store, no-transform", required: true, schema: { type: "string" } },
} as const;

export function body(schema: GenericSchema, example: unknown, { required = true } = {}): unknown {
  return { required, content: { "application/json": { schema: describeBody(schema), example } } };
}

export function reference(name: keyof typeof responseSchemas): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
