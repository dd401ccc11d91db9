import assert from "node:assert/strict";
import { call, createScan, refused, type CallOptions, type GatewayCases, type GatewayUnderTest } from "./harness.ts";

/** Status of the answer, and what a refusal has to name: what was wrong, and what would be right. */
type Answer = readonly [status: Parameters<typeof refused>[1] | 200 | 202, ...named: readonly string[]];

const nowhere = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const forms = ["Bearer <token>", "Api-Key <key>"] as const;
const streamPath = "/api/v1/scans/{scan}/event-stream";
const tokens = "/api/v1/stream-tokens";
const tenantStream = "/api/v1/event-stream";
const shape = "<prefix>:<tenant_id>:<resource_id>";
const notFlat = ["not flat", "array"] as const;

/** Refusals of an ordinary request and of an event stream alike. Words in braces stand for the values of `createValues`. */
const headers: readonly (readonly [header: string, ...Answer])[] = [
  ["Token {token}", 401, ...forms],
  ["Bearer", 401, ...forms],
  ["{token}", 401, ...forms],
  ["", 401, ...forms],
  ["Bearer {token} {token}", 401, ...forms],
  ["Bearer {token}, Api-Key {key}", 401, ...forms],
  ["Bearer {key}", 401, "Api-Key <key>"],
  ["Api-Key {token}", 401, "API key is not valid"],
  ["Api-Key {forged key}", 401, "API key is not valid"],
  ["Bearer a.b.c", 401, "token is not valid"],
  ["Bearer {unsigned}", 401, "token is not valid"],
  ["Bearer {without end}", 401, "token is not valid"],
  ["Bearer {without tenant}", 401, "token is not valid"],
  ["Bearer {without subject}", 401, "token is not valid"],
  ["Bearer {of a stranger}", 403, "member"],
  ["Bearer {of an injection}", 403, "member"],
  ["Bearer {of another tenant}", 403, "member"],
  ["Bearer {in upper case}", 200],
  ["api-key {key}", 200],
];

const queries: readonly (readonly [query: string, header: string | null, ...Answer])[] = [
  ["", null, 401, ...forms, "access_token"],
  ["access_token={token}", null, 200],
  ["access_token={token}", "Bearer wrong", 401, "token is not valid"],
  ["access_token={token}", "Basic eDp5", 401, ...forms],
  ["access_token=wrong", "Bearer {token}", 200],
  ["access_token=wrong", null, 401, "token is not valid"],
  ["access_token=", null, 401, "access_token is empty"],
  ["access_token={token}&access_token={token}", null, 401, "access_token", "more than once"],
  ["access_token={key}", null, 401, "Api-Key <key>"],
  ["api_key={key}", null, 401, "api_key in the query", "Api-Key <key>"],
];

const member = { as: "Bearer {token}" } as const;
const producer = { as: "Api-Key {key}" } as const;

const requests: readonly (readonly [path: string, options: CallOptions, ...Answer])[] = [
  ["/api/v1/scans", {}, 401, ...forms],
  ["/api/v1/scans?access_token={token}", {}, 401, ...forms],
  [`${streamPath}?access_token={token}`, { as: "" }, 401, ...forms],
  ["/api/v1/scans", { headers: { "x-api-key": "{key}" } }, 401, "X-API-Key", "Api-Key <key>"],
  ["/api/v1/scans", { ...member, headers: { "x-tenant-id": "{TENANT}" } }, 200],
  ...["/api/v1/session", "/api/v1/scans", "/api/v1/scans/{scan}", streamPath, tenantStream].flatMap((path) =>
    [member, producer].flatMap((caller) =>
      [nowhere, "acme"].map((id) => [path, { ...caller, headers: { "x-tenant-id": id } }, 403, "X-Tenant-Id"] as const),
    ),
  ),
  ...["", "0", "2", "true", "1&snapshot=0"].flatMap((value) =>
    [streamPath, tenantStream].map((path) => [`${path}?snapshot=${value}`, member, 400, "snapshot"] as const),
  ),
  ...["scans?limit=0", "scans?limit=201", "scans?cursor=x", "decisions?active=1", "decisions?kind=x"].map(
    (query) => [`/api/v1/${query}`, member, 400, `query's ${query.split(/[?=]/)[1]}`] as const,
  ),
  ["/api/v1/scans", { ...producer, body: "{" }, 400, "not JSON"],
  ["/api/v1/scans", { ...producer, json: "{70000 x}" }, 413, "65536 bytes"],
  ["/api/v1/scans", { ...member, method: "DELETE" }, 405, "DELETE", "GET"],
  ["/api/v1/nothing", member, 404, "path"],
  ["/api/v1/scans/{SCAN}", member, 200],
  ["/api/v1/scans/{SCAN}/event-stream", member, 200],
  ["/api/v1/event-stream?scan_id={SCAN}", member, 200],
  ["/api/v1/scans/{scan}/event-stream", { ...member, method: "POST" }, 405, "POST", "GET"],
  ...[nowhere, "not-a-uuid", nowhere.replace("4", "g"), "{300 1}", "%00"].map(
    (id) => [`/api/v1/scans/${id}/event-stream`, member, 404, "No such"] as const,
  ),
  ["/api/v1/scans/{scan}", { ...member, method: "PATCH", json: {} }, 403, "Only an API key"],
  ["/api/v1/channels/scan:{tenant}:{scan}/events", { ...member, json: {} }, 403, "Only an API key"],
  [tokens, { ...member, json: {} }, 422, "event_stream"],
  [tokens, { ...member, json: { scan_id: nowhere } }, 404, "scan"],
  [tokens, { ...member, json: { scan_id: "{scan}", event_stream: tenantStream } }, 422, "event_stream", "scan_id"],
  [tokens, { ...member, json: { event_stream: `/api/v1/scans/${nowhere}/event-stream` } }, 404, "No such scan"],
  [tokens, { ...member, json: { event_stream: `${tenantStream}?snapshot=2` } }, 400, "snapshot"],
  ...[
    `//x${tenantStream}`,
    // A URL is read without its tabs.
    `/\t/x${tenantStream}`,
    `${tenantStream}/`,
    "/api/v1/scans/{scan}",
  ].map((name) => [tokens, { ...member, json: { event_stream: name } }, 422, "/event_stream"] as const),
];

const channels: readonly (readonly [channel: string, ...Answer])[] = [
  ["scan", 403, "1 part", shape],
  ["scan:{tenant}:", 403, 'resource id ""', "1 to 200"],
  ["scan:acme:x", 403, 'tenant id "acme"', "UUID"],
  ["model_token:{tenant}:x", 403, 'prefix "model_token"', "hyphens"],
  ["scan:{tenant}:x%0a", 403, String.raw`resource id "x\n"`],
  ["scan:{tenant}:x%2fy", 403, 'resource id "x/y"'],
  ["scan:{tenant}:%zz", 403, 'resource id "%zz"'],
  ["scan:{tenant}:{201 x}", 403, "resource id", "1 to 200"],
  ["job:{TENANT}:{200 x}", 202],
  [`job:{tenant}:${nowhere}`, 202],
  ["scan:{tenant}:{scan}", 422, "delivery_id", "<producer>.<n>"],
  ["scan:{other tenant}:{scan}", 403, "does not belong to this key's tenant"],
  ...["tenant:{tenant}:{tenant}", "tenant%3A{tenant}%3A{tenant}", "tenant:{tenant}:other"].map(
    (channel) => [channel, 403, "Only the gateway", "tenant:"] as const,
  ),
];

const typeForm = "<resource>.<verb> in lower case";

/** Published on the channel of a job, as text where JSON has no such value. */
const events: readonly (readonly [event: object | string, ...Answer])[] = [
  ["null", 422, "JSON object"],
  [{ type: "job", data: {} }, 422, '"job"', typeForm],
  [{ type: "job.finished", data: {} }, 422, '"job.finished"', "created, updated", "snapshot"],
  [{ type: "job.start", data: {}, events: [] }, 422, "not both"],
  [{ type: "job.start", data: null }, 422, "flat JSON object"],
  [{ type: "job.start", data: { good: 1, bad: { a: 1 } } }, 422, '"bad"', ...notFlat],
  ['{"type":"job.start","data":{"n":1e999}}', 422, '"n"', "finite"],
  ['{"type":"job.start","data":{"n":NaN}}', 400, "not JSON"],
  [{ type: "job.start", data: { list: ["x", 1, false, null] } }, 202],
  [{ type: "job.start", data: { type: "job.end", data: "x" } }, 202],
  [{ type: "job.delta", data: { a: "{65528 x}" } }, 202],
  [{ type: "job.delta", data: { a: "{65529 x}" } }, 413, "65536 bytes"],
  [{ type: "job.delta", data: { a: "{2097152 x}" } }, 413, "1048576 bytes"],
  [{ type: "job.end", data: {} }, 422, '"job_id"', "UUID"],
  [{ type: "job.end", data: { job_id: "{SCAN}" } }, 422, '"job_id"', "UUID"],
  [{ type: "job.end", data: { job_id: nowhere } }, 422, "another resource", "{scan}"],
  [{ type: "x.end", data: { x_id: nowhere } }, 202],
  [{ type: "scan.end", data: { scan_id: "{scan}" } }, 403, "Only the gateway", "scan.end"],
  [{ type: "monitor.end", data: { monitor_id: nowhere } }, 403, "Only the gateway", "monitor.end"],
];

/** Careless and hostile uses of addresses, which each runtime reads in its own way. */
export const addressCases: GatewayCases = Object.fromEntries([
  ...queries.map(([query, as, ...answer]) =>
    toCase(`?${query} with ${as}`, [`${streamPath}?${query}`, as === null ? {} : { as }], answer),
  ),
  ...channels.map(([channel, ...answer]) =>
    toCase(channel, publishing(channel, { type: "scan.progress", data: {} }), answer),
  ),
]);

/** The other careless and hostile uses, each with the answer that a careful user expects. */
export const useCases: GatewayCases = Object.fromEntries([
  ...headers.flatMap(([as, ...answer]) =>
    ["/api/v1/scans", streamPath].map((path) => toCase(`"${as}" for ${path}`, [path, { as }], answer)),
  ),
  ...requests.map(([path, options, ...answer]) =>
    toCase(`${path} ${JSON.stringify(options)}`, [path, options], answer),
  ),
  ...events.map(([event, ...answer]) =>
    toCase(JSON.stringify(event), publishing("job:{tenant}:{scan}", event), answer),
  ),
]);

type Request = readonly [path: string, options: CallOptions];

function publishing(channel: string, event: object | string): Request {
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const headers = { "content-type": "application/json" };
  return [`/api/v1/channels/${channel}/events`, { ...producer, body, headers }];
}

function toCase(name: string, [path, options]: Request, [status, ...named]: Answer): [string, GatewayCases[string]] {
  const run: GatewayCases[string] = async (gateway) => {
    const values = await valuesOf(gateway);
    const fill = (text: string) =>
      text
        .replaceAll(/\{(\d+) (.)\}/g, (_, count: string, letter: string) => letter.repeat(Number(count)))
        .replaceAll(/\{([a-z][^{}":]*)\}/gi, (word, value: string) => values[value] ?? word);
    const filled = JSON.parse(fill(JSON.stringify(options))) as typeof options;
    const response = await call(gateway, fill(path), filled);
    if (status === 200 || status === 202) {
      assert.equal(response.status, status);
      return response.body?.cancel();
    }
    const detail = await refused(response, status, [values["key"] ?? "", values["token"] ?? ""]);
    for (const word of named) assert.ok(detail.includes(fill(word)), `the refusal names ${fill(word)}: ${detail}`);
    return undefined;
  };
  return [`answers ${status} to ${name}`, run];
}

type Values = Readonly<Record<string, string>>;
const known = new WeakMap<GatewayUnderTest, Promise<Values>>();

/** One for all cases of a gateway. */
function valuesOf(gateway: GatewayUnderTest): Promise<Values> {
  const values = known.get(gateway) ?? createValues(gateway);
  known.set(gateway, values);
  return values;
}

async function createValues(gateway: GatewayUnderTest): Promise<Values> {
  const { id: tenant, sub, apiKey: key, token } = gateway.tenant;
  const { createTenant, sign } = gateway.control;
  const { id: scan } = await createScan(gateway);
  const claims = { tenant_id: tenant, sub };
  return {
    tenant,
    scan,
    token,
    key,
    TENANT: tenant.toUpperCase(),
    SCAN: scan.toUpperCase(),
    "other tenant": (await createTenant("Uses")).id,
    "forged key": `scs_${"0".repeat(8)}_${"0".repeat(64)}`,
    "without end": await sign({ ...claims, exp: undefined }),
    "without tenant": await sign({ sub }),
    "without subject": await sign({ tenant_id: tenant }),
    unsigned: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1] ?? ""}.`,
    "of a stranger": await sign({ ...claims, sub: "stranger" }),
    "of an injection": await sign({ ...claims, sub: "' or true --" }),
    "of another tenant": await sign({ ...claims, tenant_id: nowhere }),
    "in upper case": await sign({ ...claims, tenant_id: tenant.toUpperCase() }),
  };
}
