import * as v from "valibot";
import { uuid } from "../../shared/schemas/primitives.ts";
import { problemSchema } from "../../shared/schemas/problem.ts";

/** The OpenAPI document's words about a route. It is data: what makes the document is loaded when it is first requested. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string | undefined;
  /** Default: a token of a user, or an API key. */
  readonly security?: Security | undefined;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly schema: v.GenericSchema; readonly example: unknown; readonly isRequired: boolean };
  readonly responses: Answers;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string | undefined;
  readonly required?: true;
  readonly schema: v.GenericSchema | JsonSchema;
  readonly style?: "form";
  readonly explode?: true;
}

type JsonSchema = Readonly<Record<string, unknown>> & { readonly kind?: never };

/** By status. */
export type Answers = Readonly<Record<number, Answer>>;

export interface Answer {
  readonly description: string;
  /** Undefined: it has no body. */
  readonly contentType?: string;
  readonly schema?: v.GenericSchema;
  readonly headers?: readonly (keyof typeof responseHeaders)[];
  readonly example?: unknown;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
}

type Security = readonly Readonly<Record<string, readonly []>>[];

/** For an operation that only API keys may use, and for one that needs no credentials. */
export const keyOnly: Security = [{ apiKey: [] }];
export const withoutCredentials: Security = [];
/** For an event stream: `EventSource` sends its token in the query. */
export const streamSecurity: Security = [{ user: [] }, { apiKey: [] }, { accessToken: [] }];

/** The handler, with what the OpenAPI document says of its route. */
export function describeHandler<Handler extends object>(
  handler: Handler,
  operation: Operation,
): Handler & { readonly operation: Operation } {
  return Object.assign(handler, { operation });
}

/** The schema as a component that the document describes once. */
/* @__NO_SIDE_EFFECTS__ */
export function component<Schema extends v.GenericSchema>(name: string, schema: Schema) {
  return v.pipe(schema, v.metadata({ ref: name }) as v.MetadataAction<v.InferOutput<Schema>, { readonly ref: string }>);
}

/* @__NO_SIDE_EFFECTS__ */
export function pathParameter(name: string, description: string, schema: v.GenericSchema): Parameter {
  return { name, in: "path", required: true, description, schema };
}

/** Of every operation that people may use. */
export const tenantParameter: Parameter = {
  name: "X-Tenant-Id",
  in: "header",
  description: "The tenant to use, for a token that is valid for several",
  schema: uuid("expected a UUID"),
};

/* @__NO_SIDE_EFFECTS__ */
export function json(
  schema: v.GenericSchema,
  description: string,
  options: Pick<Answer, "example" | "headers"> = {},
): Answer {
  return { description, contentType: "application/json", schema, ...options };
}

const Problem = component("Problem", problemSchema);

/* @__NO_SIDE_EFFECTS__ */
export function problem(description: string, headers: Answer["headers"] = []): Answer {
  return { description, contentType: "application/problem+json", schema: Problem, headers };
}

/** How an operation may be refused, by status; a text of the feature's own wins. */
/* @__NO_SIDE_EFFECTS__ */
export function refusals(...statuses: readonly (keyof typeof refusalAnswers)[]): Answers {
  return Object.fromEntries(statuses.map((status) => [status, refusalAnswers[status]]));
}

const refusalAnswers = {
  400: problem("Broken JSON, a query that is not valid, or a token for several tenants without X-Tenant-Id"),
  401: problem("No or bad credentials", ["WWW-Authenticate"]),
  403: problem("Not permitted"),
  413: problem("Too large"),
  415: problem("Not JSON, or compressed", ["Accept"]),
  422: problem("Fields that are wrong, each named"),
  429: problem("Too many streams or requests of this tenant", ["Retry-After"]),
  503: problem("Database or broker unavailable", ["Retry-After"]),
};

/** How an operation with a JSON body may be refused. */
export const bodyRefusals = refusals(400, 401, 403, 413, 415, 422, 429, 503);

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
