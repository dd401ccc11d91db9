import { toJsonSchema } from "@valibot/to-json-schema";
import type { Hono } from "hono";
import { generateSpecs } from "hono-openapi";
import type * as v from "valibot";
import packageJson from "../../package.json" with { type: "json" };
import { headers, responseHeaders, type Parameter, type Tag } from "./operation.ts";

export type OpenApi = Awaited<ReturnType<typeof describeApi>>;

/** The HTTP API of an application whose routes are described, https://spec.openapis.org/oas/v3.1.1.html */
export async function describeApi(app: Hono, tags: readonly Tag[]) {
  const { tags: _tags, ...specs } = await generateSpecs(app, {
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
      // Every operation without its own gets it.
      security: [{ user: [] }, { apiKey: [] }],
    },
  });
  for (const operation of Object.values(specs.paths).flatMap((methods) => Object.values(methods))) {
    if (typeof operation !== "object" || !("responses" in operation)) continue;
    const { parameters, responses } = operation;
    if (parameters !== undefined) operation.parameters = (parameters as Parameter[]).map(toParameter);
    operation.responses = Object.fromEntries(
      Object.entries(responses ?? {}).map(([status, answer]) => {
        const own = "headers" in answer ? answer.headers : {};
        return [status, { ...answer, headers: { ...headers("X-Request-Id"), ...own } }];
      }),
    );
  }
  return { ...specs, tags };
}

function toParameter({ schema, ...parameter }: Parameter): Parameter {
  const { description, ...inline } = isValibot(schema) ? toInlineSchema(schema) : { ...schema };
  return { ...(typeof description === "string" && { description }), ...parameter, schema: inline };
}

function isValibot(schema: unknown): schema is v.GenericSchema {
  return (schema as { readonly kind?: unknown }).kind === "schema";
}

/** A schema on its own. A check that JSON Schema cannot express is left to the texts. */
function toInlineSchema(schema: v.GenericSchema): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...described } = toJsonSchema(schema, { errorMode: "ignore" });
  return described;
}
