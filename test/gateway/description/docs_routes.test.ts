import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../../gateway/app.ts";
import { features } from "../../../gateway/features/features.ts";
import type { OpenApi } from "../../../gateway/description/describe_api.ts";
import { describeEvents, type AsyncApi } from "../../../gateway/description/describe_events.ts";
import { encodeEvent } from "../../../shared/event.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let gateway: TestGateway;
let api: OpenApi;
let events: AsyncApi;

beforeAll(async () => {
  gateway = await startTestGateway();
  api = (await (await gateway.request("/openapi.json")).json()) as OpenApi;
  events = (await (await gateway.request("/asyncapi.json")).json()) as AsyncApi;
});
afterAll(() => gateway.stop());

/** Pages and the descriptions themselves are no part of the API. */
const undescribed = new Set([
  "/",
  "/assets/{file}",
  "/docs",
  "/openapi.json",
  "/asyncapi.json",
  "/demo/session",
  "/sign-in",
  "/callback",
]);

test("every route is described, and every description is a route", () => {
  const { routes } = createApp(gateway.gateway.parts.dependencies);
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
  for (const [document, text] of [
    [api, JSON.stringify(api)],
    [events, JSON.stringify(events)],
  ] as const) {
    for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      let found: unknown = document;
      for (const key of path?.split("/") ?? []) found = (found as Record<string, unknown> | undefined)?.[key];
      expect(found, path).toBeDefined();
    }
  }
});

test("every described event can be published", () => {
  const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
  const published = Object.values(events.components.messages).map(({ name, payload }) => {
    const data = Object.fromEntries(Object.keys(payload["properties"] ?? {}).map((field) => [field, id]));
    return encodeEvent(name, data).type;
  });
  const described = features.flatMap(({ channel }) => Object.keys(channel?.summaries ?? {}));
  expect(published).toEqual(described);
});

test("a channel prefix or an event that two features have is an error", () => {
  const [scans] = features;
  if (scans?.channel === undefined) throw new Error("There is no feature");
  const { channel } = scans;
  const { dependencies } = gateway.gateway.parts;
  expect(() => createApp(dependencies, [scans, scans])).toThrow('two of them have the channel prefix "scan"');
  expect(() => describeEvents({ channels: [channel, channel] })).toThrow("scanStart is described twice");
});

test("the page shows both, and neither runs a script nor requests anything", async () => {
  const response = await gateway.request("/docs");
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const text = await response.text();
  for (const path of Object.keys(api.paths)) expect(text).toContain(path);
  for (const { name } of Object.values(events.components.messages)) expect(text).toContain(name);
  expect(text).not.toMatch(/<script|(?:src|href|action)="?https?:|url\(|\son\w+=/);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)));
  expect(policy).toContain(`style-src 'sha256-${Buffer.from(digest).toString("base64")}'`);
});
