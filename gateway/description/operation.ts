import { resolver, type DescribeRouteOptions } from "hono-openapi";
import * as v from "valibot";
import { uuid } from "../../shared/schemas/primitives.ts";
import { problemSchema } from "../http/problem.ts";

/** Answers by status. `describe_api.ts` adds the header that every answer has. */
export type Answers = NonNullable<DescribeRouteOptions["responses"]>;
type Parameters = NonNullable<DescribeRouteOptions["parameters"]>;
export type Parameter = Exclude<Parameters[number], { readonly $ref: string }>;

export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** An event stream's: `EventSource` sends its token in the query. */
export const streamSecurity: Record<string, string[]>[] = [{ user: [] }, { apiKey: [] }, { accessToken: [] }];

/** The schema as a component that the document describes once. */
/* @__NO_SIDE_EFFECTS__ */
export function component<Schema extends v.GenericSchema>(name: string, schema: Schema) {
  return v.pipe(schema, v.metadata({ ref: name }) as v.MetadataAction<v.InferOutput<Schema>, { readonly ref: string }>);
}

/** A parameter with a schema of ours, which `describe_api.ts` replaces: what does it is loaded with the document. */
/* @__NO_SIDE_EFFECTS__ */
export function parameter(place: "path" | "query" | "header", name: string, schema: v.GenericSchema): Parameter {
  const described = { in: place, name, schema: schema as unknown as NonNullable<Parameter["schema"]> };
  return place === "path" ? { ...described, required: true } : described;
}

/** A parameter of every operation that people may use. */
export const tenantParameter = parameter(
  "header",
  "X-Tenant-Id",
  v.pipe(uuid("expected a UUID"), v.description("The tenant to use, for a token that is valid for several")),
);

type HeaderNames = readonly (keyof typeof responseHeaders)[];

/* @__NO_SIDE_EFFECTS__ */
export function headers(...names: HeaderNames) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/* @__NO_SIDE_EFFECTS__ */
export function answer(contentType: string, schema: v.GenericSchema, description: string, names: HeaderNames = []) {
  return { description, headers: headers(...names), content: { [contentType]: { schema: resolver(schema) } } };
}

/* @__NO_SIDE_EFFECTS__ */
export function json(schema: v.GenericSchema, description: string, names: HeaderNames = []) {
  return answer("application/json", schema, description, names);
}

const Problem = component("Problem", problemSchema);

/* @__NO_SIDE_EFFECTS__ */
export function problem(description: string, names: HeaderNames = [], schema: v.GenericSchema = Problem) {
  return answer("application/problem+json", schema, description, names);
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

export const responseHeaders = {
  "X-Request-Id": {
    description: "The request's own when it had one; the log names it",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9_=-]{1,64}$" },
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
  "Accept-Encoding": { description: "gzip", required: true, schema: { type: "string" } },
  "Cache-Control": { description: "no-store, no-transform", required: true, schema: { type: "string" } },
} as const;
