import { Hono } from "hono";
import { describeRoute, generateSpecs } from "hono-openapi";
import packageJson from "../../../package.json" with { type: "json" };
import { responseHeaders, type FeatureDescription } from "./feature_description.ts";

export type OpenApi = Awaited<ReturnType<typeof describeApi>>;

/** The HTTP API, https://spec.openapis.org/oas/v3.1.1.html. Throws for an operation that two features describe. */
export async function describeApi(features: readonly FeatureDescription[]) {
  const routes = new Hono();
  const described = new Set<string>();
  for (const [route, operation] of features.flatMap(({ operations }) => Object.entries(operations))) {
    if (described.has(route)) throw new TypeError(`Cannot describe the API: ${route} is described twice`);
    described.add(route);
    const [method = "", path = ""] = route.split(" ");
    routes.on(method, path, describeRoute(operation));
  }
  const { tags: _tags, ...specs } = await generateSpecs(routes, {
    documentation: {
      openapi: "3.1.1",
      info: {
        title: "scanstream gateway",
        version: packageJson.version,
        summary: "Compliance scans, streamed live to each tenant",
        description:
          "Another method of a known path is 405 and says in `Allow` which there are. HEAD is answered as GET is, without a " +
          "body, and opens no stream. Times are ISO 8601 in UTC.",
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "Where this description was read" }],
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
  return { ...specs, tags: features.flatMap(({ tags }) => tags) };
}
