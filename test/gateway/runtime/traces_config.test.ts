import { expect, test } from "vitest";
import { parseTraceparent } from "../../../gateway/observability/traceparent.ts";
import { parseTracesConfig } from "../../../gateway/runtime/traces_config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.test/otlp/" };

test("nothing is traced without an endpoint", () => {
  expect(parseTracesConfig({})).toBeNull();
  expect(parseTracesConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_SERVICE_NAME: "a" })).toBeNull();
});

test("the endpoint alone is enough", () => {
  expect(parseTracesConfig(endpoint)).toEqual({
    url: "https://collector.test/otlp/v1/traces",
    headers: {},
    serviceName: "scanstream",
    sampler: { followsCaller: true, ratio: 1 },
  });
});

test.each([
  ["always_on", "0.5", { followsCaller: false, ratio: 1 }],
  ["always_off", "", { followsCaller: false, ratio: 0 }],
  ["traceidratio", "0.25", { followsCaller: false, ratio: 0.25 }],
  ["traceidratio", "", { followsCaller: false, ratio: 1 }],
  ["parentbased_always_off", "", { followsCaller: true, ratio: 0 }],
  ["parentbased_traceidratio", "0", { followsCaller: true, ratio: 0 }],
])("the sampler %s with %j", (name, argument, sampler) => {
  const config = parseTracesConfig({ ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
  expect(config?.sampler).toEqual(sampler);
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "somewhere:4318"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "secret-value"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=b%0Ac"],
  ["OTEL_TRACES_SAMPLER", "sometimes"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.1"],
  ["OTEL_TRACES_SAMPLER_ARG", "-1"],
])("%s=%s is refused by name, without the value", (name, value) => {
  const environment = { ...endpoint, OTEL_TRACES_SAMPLER: "traceidratio", [name]: value };
  let message = "";
  try {
    parseTracesConfig(environment);
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain(name);
  expect(message).not.toContain(value);
});

test.each([
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02", false],
  ["cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later", true],
])("traceparent %s is read", (header, isSampled) => {
  const ids = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
  expect(parseTraceparent(header)).toEqual({ ...ids, isSampled });
});

test.each([
  null,
  "",
  "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
  "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
  "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
])("traceparent %j is none", (header) => {
  expect(parseTraceparent(header)).toBeNull();
});
