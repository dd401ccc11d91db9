import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { createApp } from "../../../gateway/app.ts";
import { scanstreamFeatures } from "../../../gateway/features/scanstream_features.ts";
import type { OpenApi } from "../../../gateway/description/describe_api.ts";
import type { CallOptions } from "../../../gateway/library/contract_client.ts";
import { createScan, openTestGateway } from "../../support/test_gateway.ts";
import { numbered } from "../../support/published.ts";

const gateway = await openTestGateway();
const scan = await createScan(gateway, gateway.acme, { checks_total: 100 });
const as = `Api-Key ${gateway.acme.apiKey}`;
const api = (await (await gateway.request("/openapi.json")).json()) as OpenApi;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(api, "api");

/** True when the description allows it; `place` is a path of keys through the document. */
function allows(place: readonly string[], value: unknown): boolean {
  const pointer = place.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`api#/${pointer}`);
  if (validate === undefined) throw new Error(`The description has no ${pointer}`);
  return validate(value) === true;
}

interface Described {
  readonly path: string;
  readonly method: string;
  readonly responses: Readonly<Record<string, Content & { readonly headers?: Readonly<Record<string, unknown>> }>>;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
}

function operations(): readonly Described[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...(operation as unknown as Described), path, method })),
  );
}

/** Pages and the description itself are no part of the API. */
const undescribed = new Set(["/", "/assets/{file}", "/openapi.json", "/demo/session", "/sign-in", "/callback"]);

test("every route is described, and every description is a route; every reference leads somewhere", () => {
  const features = scanstreamFeatures({ retentionDays: null, historyDays: 400 });
  const { routes } = createApp(gateway.gateway.parts.dependencies, features);
  const served = routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
    .filter((route) => !undescribed.has(route.split(" ")[1] ?? ""));
  const described = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(described.toSorted()).toEqual([...new Set(served)].toSorted());
  for (const [, path] of JSON.stringify(api).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let found: unknown = api;
    for (const key of path?.split("/") ?? []) found = (found as Record<string, unknown> | undefined)?.[key];
    expect(found, path).toBeDefined();
  }
});

const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const nul = "a\0b";

/** Bodies that a client may send, good and bad: the description says of each what the server does. */
const bodies: readonly (readonly [method: string, path: string, values: readonly unknown[]])[] = [
  [
    "post",
    "/api/v1/scans",
    [
      {},
      { org_url: "https://acme.okta.com", client_id: "0oa", checks_total: 3 },
      { org_url: "acme.okta.com" },
      { org_url: "javascript:alert(1)" },
      { org_url: "https://user:secret@acme.okta.com" },
      { org_url: `https://acme.okta.com/${nul}` },
      { org_url: `https://acme.okta.com/${"x".repeat(2048)}` },
      { client_id: nul },
      { checks_total: -1 },
      { checks_total: 2_147_483_648 },
      { more: 1 },
      [],
    ],
  ],
  [
    "patch",
    "/api/v1/scans/{id}",
    [{}, { status: "running", checks_done: 1 }, { status: "expired" }, { pass: "1" }, []],
  ],
  [
    "post",
    "/api/v1/channels/{channel}/events",
    [
      { type: "scan.start", data: {} },
      { type: "scan.start", data: { a: 1, b: "x", c: true, d: null, e: [1, "x", false, null] } },
      { type: "scan.start", data: { a: [[1]] } },
      { type: "scan.began", data: {} },
      { type: `${"a".repeat(194)}.start`, data: {} },
      { type: `${"a".repeat(195)}.start`, data: {} },
      { type: "scan.start", data: {}, delivery_id: "ci.1" },
      { events: [{ type: "scan.start", data: {} }] },
      { events: [{ type: "scan.start", data: { a: {} } }] },
      { events: [] },
      { events: Array.from({ length: 500 }, () => ({ type: "scan.start", data: {} })) },
      { events: Array.from({ length: 501 }, () => ({ type: "scan.start", data: {} })) },
      { type: "scan.start", data: {}, events: "x" },
      {},
    ],
  ],
];

describe.each(bodies)("%s %s", (method, path, values) => {
  test.each(values.map((value) => [JSON.stringify(value).slice(0, 100), value]))("body %s", async (_text, value) => {
    const url = path.replace("{id}", scan.id).replace("{channel}", scan.channel.replace("scan:", "job:"));
    const response = await gateway.request(url, { method: method.toUpperCase(), as, json: value });
    expect([200, 201, 202, 422]).toContain(response.status);
    const place = ["paths", path, method, "requestBody", "content", "application/json", "schema"];
    expect(allows(place, value), await response.text()).toBe(response.ok);
  });
});

test("answers are what is described, with the headers that are", async () => {
  const events = `/api/v1/channels/${scan.channel}/events`;
  const event = { type: "scan.start", data: {}, delivery_id: "one.1" };
  const scans = "/api/v1/scans";
  const isText = { body: "x", headers: { "content-type": "text/plain" } };
  const answers: readonly (readonly [path: string, status: number, sent?: CallOptions, asked?: string])[] = [
    ["/healthz", 200],
    ["/readyz", 200],
    [scans, 201, { json: {} }],
    [`${scans}/{id}`, 201, { method: "PUT", json: {} }, `${scans}/${id}`],
    [`${scans}/{id}`, 200, {}, `${scans}/${scan.id}`],
    [`${scans}/{id}`, 404, {}, `${scans}/none`],
    [scans, 200],
    [scans, 400, {}, `${scans}?limit=0`],
    [scans, 401, { as: "" }],
    ["/api/v1/stream-tokens", 200, { json: { scan_id: scan.id } }],
    [scans, 422, { json: [] }],
    [scans, 415, isText],
    [`${scans}/{id}/report`, 415, { method: "PUT", json: {} }, `${scans}/${scan.id}/report`],
    ["/api/v1/channels/{channel}/events", 202, { json: event }, events],
    ["/api/v1/channels/{channel}/events", 202, { json: numbered([event, event]) }, events],
  ];
  for (const [path, status, sent = {}, asked = path] of answers) {
    const method = (sent.method ?? ("json" in sent || "body" in sent ? "POST" : "GET")).toLowerCase();
    const response = await gateway.request(asked, { as, ...sent });
    expect(response.status, `${method} ${path}`).toBe(status);
    const described = operations().find((operation) => operation.path === path && operation.method === method)
      ?.responses[status];
    for (const name of Object.keys(described?.headers ?? {})) expect(response.headers.get(name), name).not.toBeNull();
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    expect(Object.keys(described?.content ?? {})).toContain(type);
    const place = ["paths", path, method, "responses", String(status), "content", type, "schema"];
    expect(allows(place, await response.json()), `${method} ${path} ${status}`).toBe(true);
  }
});
