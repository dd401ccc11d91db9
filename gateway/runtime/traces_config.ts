import { settingsError } from "../config.ts";
import type { TracesConfig, TracesSampler } from "../observability/otlp_traces.ts";
import { createEnvironmentReader, type Environment, type EnvironmentReader } from "../../shared/environment_reader.ts";

/**
 * The standard variables of OpenTelemetry. Null without OTEL_EXPORTER_OTLP_ENDPOINT: then nothing is traced. Throws
 * `UsageError` with every problem, and no value.
 *
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function parseTracesConfig(environment: Environment): TracesConfig | null {
  const reader = createEnvironmentReader(environment);
  const endpoint = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"], "http://collector:4318");
  const config = {
    url: endpoint === null ? "" : new URL("v1/traces", endpoint.endsWith("/") ? endpoint : `${endpoint}/`).href,
    headers: parseHeaders(reader),
    serviceName: reader.text("OTEL_SERVICE_NAME") ?? "scanstream",
    sampler: parseSampler(reader),
  };
  if (reader.problems.length > 0) throw settingsError(reader.problems);
  return endpoint === null ? null : config;
}

/** `name=value,…`, values percent-encoded as in W3C Baggage. */
function parseHeaders(reader: EnvironmentReader): Readonly<Record<string, string>> {
  const text = reader.text("OTEL_EXPORTER_OTLP_HEADERS");
  if (text === null) return {};
  const pairs = text.split(",").map((pair) => /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  try {
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", decodeHeader(pair?.[2])]));
  } catch {
    reader.report("OTEL_EXPORTER_OTLP_HEADERS: expected name=value,name2=value2, with values percent-encoded");
    return {};
  }
}

function decodeHeader(value: string | undefined): string {
  const decoded = decodeURIComponent(value ?? "%");
  if (/^[\t\x20-\x7e]*$/.test(decoded)) return decoded;
  throw new TypeError("The header cannot be sent");
}

function parseSampler(reader: EnvironmentReader): TracesSampler {
  const name = reader.text("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const followsCaller = name.startsWith("parentbased_");
  const kind = name.replace("parentbased_", "");
  if (kind === "always_on") return { followsCaller, ratio: 1 };
  if (kind === "always_off") return { followsCaller, ratio: 0 };
  if (kind !== "traceidratio") {
    reader.report(
      "OTEL_TRACES_SAMPLER: expected always_on, always_off or traceidratio, or one of them after parentbased_",
    );
  }
  const text = reader.text("OTEL_TRACES_SAMPLER_ARG") ?? "1";
  const ratio = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio <= 1)) reader.report("OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1");
  return { followsCaller, ratio };
}
