import { toJsonSchema } from "@valibot/to-json-schema";
import { Hono } from "hono";
import { describeRoute, generateSpecs, resolver, type DescribeRouteOptions } from "hono-openapi";
import * as v from "valibot";
import packageJson from "../../package.json" with { type: "json" };
import type { Described } from "./described.ts";
import { responseHeaders, type Answer, type Operation, type Parameter } from "./operation.ts";

export type OpenApi = Awaited<ReturnType<typeof describeApi>>;

/** The HTTP API, https://spec.openapis.org/oas/v3.1.1.html */
export async function describeApi({ operations, tags }: Described) {
  const routes = new Hono();
  for (const { method, path, operation } of operations) routes.on(method, path, describeRoute(toRoute(operation)));
  const { tags: _tags, ...specs } = await generateSpecs(routes, {
    documentation: {
      openapi: "3.1.1",
      info: {
        title: "scanstream gateway",
        version: packageJson.version,
        summary: "Compliance scans, streamed live to each tenant",
        description:
          "A wrong method on a known path is 405; `Allow` lists the methods. HEAD is answered like GET, without a " +
          "body, and opens no stream. Times are ISO 8601 in UTC.",
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "The gateway that served this description" }],
      components: {
        headers: responseHeaders,
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
      // For every operation without its own.
      security: [{ user: [] }, { apiKey: [] }],
    },
  });
  return { ...specs, tags };
}

function toRoute({ body, parameters, responses, tags, security, description, ...texts }: Operation) {
  const route: DescribeRouteOptions = {
    ...texts,
    tags: [...tags],
    ...(description !== undefined && { description }),
    ...(security !== undefined && { security: security.map((scheme) => toMutable(scheme)) }),
    ...(parameters !== undefined && { parameters: parameters.map(toParameter) }),
    ...(body !== undefined && {
      requestBody: {
        required: body.isRequired,
        content: { "application/json": { schema: resolver(body.schema), example: body.example } },
      },
    }),
    responses: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, toResponse(answer)])),
  };
  return route;
}

function toMutable(scheme: Readonly<Record<string, readonly []>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(scheme).map(([name, scopes]) => [name, [...scopes]]));
}

function toParameter({ schema, description, ...parameter }: Parameter) {
  return {
    ...parameter,
    ...(description !== undefined && { description }),
    schema: isValibot(schema) ? toInlineSchema(schema) : schema,
  };
}

function isValibot(schema: Parameter["schema"]): schema is v.GenericSchema {
  return schema.kind === "schema";
}

/** Without a schema it is text. */
function toResponse({ description, contentType, schema = v.string(), headers = [], example }: Answer) {
  const names = ["X-Request-Id", ...headers];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(contentType !== undefined && {
      content: { [contentType]: { schema: resolver(schema), ...(example !== undefined && { example }) } },
    }),
  };
}

/** A schema on its own, for parameters and payloads. A check that JSON Schema cannot express is left to the texts. */
export function toInlineSchema(schema: v.GenericSchema): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...described } = toJsonSchema(schema, { errorMode: "ignore" });
  return described;
}
