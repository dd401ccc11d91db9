import packageJson from "../../../package.json" with { type: "json" };
import { headers, type Operation, type Security, type Tag } from "./openapi_parts.ts";
import { paths } from "./openapi_paths.ts";
import { responseSchemas } from "./response_schemas.ts";

export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: Tag; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
  /** For every operation that says nothing of its own. */
  readonly security: Security;
}

/** The HTTP API, https://spec.openapis.org/oas/v3.1.1.html. Bodies are described by the schemas that check them. */
export function describeApi(): OpenApi {
  return {
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
    tags: [
      { name: "status", description: "For load balancers and for Prometheus" },
      { name: "scans", description: "Scans and what they found" },
      { name: "streams", description: "Following a scan live" },
      { name: "publishing", description: "For producers that have a key and no broker" },
    ],
    paths,
    components: {
      schemas: responseSchemas,
      headers,
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
