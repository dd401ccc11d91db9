import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../../gateway/app.ts";
import { scanstreamFeatures } from "../../../gateway/features/scanstream_features.ts";
import type { OpenApi } from "../../../gateway/description/describe_api.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

const features = scanstreamFeatures({ retentionDays: null, historyDays: 400 });
let gateway: TestGateway;
let api: OpenApi;

beforeAll(async () => {
  gateway = await startTestGateway();
  api = (await (await gateway.request("/openapi.json")).json()) as OpenApi;
});
afterAll(() => gateway.stop());

/** Pages and the description itself are no part of the API. */
const undescribed = new Set(["/", "/assets/{file}", "/openapi.json", "/demo/session", "/sign-in", "/callback"]);

test("every route is described, and every description is a route", () => {
  const { routes } = createApp(gateway.gateway.parts.dependencies, features);
  const served = routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
    .filter((route) => !undescribed.has(route.split(" ")[1] ?? ""));
  const described = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.toSorted()).toEqual([...new Set(served)].toSorted());
});

test("every reference leads somewhere", () => {
  for (const [, path] of JSON.stringify(api).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let found: unknown = api;
    for (const key of path?.split("/") ?? []) found = (found as Record<string, unknown> | undefined)?.[key];
    expect(found, path).toBeDefined();
  }
});

test("a channel prefix that two features have is an error", () => {
  const [scans] = features;
  if (scans === undefined) throw new Error("There is no feature");
  const { dependencies } = gateway.gateway.parts;
  expect(() => createApp(dependencies, [scans, scans])).toThrow('two of them have the channel prefix "scan"');
});
