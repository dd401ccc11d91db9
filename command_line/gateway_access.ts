import { createEnvironmentReader, type Environment, type EnvironmentReader } from "../shared/environment_reader.ts";
import { UsageError } from "../shared/usage_error.ts";

export interface GatewayAccess {
  readonly url: string;
  readonly apiKey: string;
}

/** Null when no gateway is named, or when something is wrong, which the reader then knows. */
export function readGatewayAccess(reader: EnvironmentReader): GatewayAccess | null {
  const url = reader.url("SCANSTREAM_URL", ["https:", "http:"], "https://scanstream.example.com");
  const apiKey = reader.pattern("SCANSTREAM_API_KEY", /^[\x21-\x7e]+$/, "an API key, as admin api-key create shows it");
  const isNamed = reader.text("SCANSTREAM_URL") !== null;
  const hasKey = reader.text("SCANSTREAM_API_KEY") !== null;
  if (isNamed && !hasKey) {
    reader.report(
      "SCANSTREAM_API_KEY is not set: SCANSTREAM_URL also needs an API key of that gateway (scanstream admin api-key create)",
    );
  }
  if (hasKey && !isNamed) {
    reader.report("SCANSTREAM_URL is not set: SCANSTREAM_API_KEY also needs the address of its gateway");
  }
  return url === null || apiKey === null ? null : { url, apiKey };
}

/** The access of a command that does nothing without one. Throws `UsageError` with these problems and those of the variables. */
export function requireGatewayAccess(env: Environment, problems: readonly string[]): GatewayAccess {
  const reader = createEnvironmentReader(env);
  for (const problem of problems) reader.report(problem);
  const access = readGatewayAccess(reader);
  if (access === null && reader.problems.length === problems.length) {
    reader.report(
      "SCANSTREAM_URL and SCANSTREAM_API_KEY are not set: expected the address of a gateway, and an API key for it",
    );
  }
  if (access === null || reader.problems.length > 0) throw new UsageError(reader.problems);
  return access;
}
