import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { reportUpload } from "../support/report_builders.ts";
import { call, type GatewayUnderTest } from "./harness.ts";
import { walkName, type Cast, type ProtectedRoute } from "./callers.ts";

/** A request that a route carries out, for whoever may make it. */
export interface SampleRequest {
  readonly path: string;
  readonly json?: unknown;
  /** Among those who may, where the request itself would end the walk: another body, and the answer to it. */
  readonly instead?: { readonly json: unknown; readonly status: number };
}

interface World extends Pick<Cast, "tenant"> {
  /** Sends a request of somebody who may; resolves with the answer's body. */
  make(method: string, path: string, json?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

type MakeSample = (world: World) => Promise<SampleRequest>;

/** Made anew for each request that may be carried out: a deletion takes it away. */
export function sampleOf(
  gateway: GatewayUnderTest,
  route: ProtectedRoute,
  { tenant, owner, admin }: Cast,
): Promise<SampleRequest> {
  const name = `${route.method} ${route.path}`;
  const sample = samples[name] ?? (isComplete(route) ? at(route.path) : null);
  if (sample === null) throw new Error(`${name} has no sample request: add one to test/contract/sample_requests.ts`);
  return sample({
    tenant,
    async make(method, path, json) {
      const as = ["/api/v1/members", "/api/v1/api-keys"].includes(path) ? admin : owner;
      const response = await call(gateway, path, { method, as, ...(json === undefined ? {} : { json }) });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    },
  });
}

function isComplete({ method, path }: ProtectedRoute): boolean {
  return method === "GET" && !path.includes(":");
}

function at(path: string, json?: unknown): MakeSample {
  return async () => (json === undefined ? { path } : { path, json });
}

const event = { type: "scan.progress", data: { n: 1 } };
const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10 };

const scan = async ({ make }: World) => `/api/v1/scans/${String((await make("POST", "/api/v1/scans", {}))["id"])}`;
const ofScan =
  (rest: string, json?: unknown): MakeSample =>
  async (world) =>
    withBody(`${await scan(world)}${rest}`, json);
const aMonitor = async ({ make }: World) =>
  `/api/v1/monitors/${String((await make("PUT", `/api/v1/monitors/${randomUUID()}`, monitor))["id"])}`;
const ofMonitor =
  (rest: string, json?: unknown): MakeSample =>
  async (world) =>
    withBody(`${await aMonitor(world)}${rest}`, json);
const anOrganization = async ({ make }: World) => {
  const org_url = `https://${randomUUID()}.okta.com`;
  await make("POST", "/api/v1/scans", { org_url });
  const { items } = (await make("GET", "/api/v1/organizations")) as {
    readonly items?: readonly { readonly id: string; readonly org_url: string }[];
  };
  return `/api/v1/organizations/${String(items?.find((organization) => organization.org_url === org_url)?.id)}`;
};
const ofOrganization =
  (rest: string): MakeSample =>
  async (world) => ({ path: `${await anOrganization(world)}${rest}` });
function withBody(path: string, json: unknown): SampleRequest {
  return json === undefined ? { path } : { path, json };
}

async function aMember({ make }: World): Promise<string> {
  const sub = `${randomUUID()}@walk.test`;
  await make("POST", "/api/v1/members", { sub, role: "viewer" });
  return `/api/v1/members/${encodeURIComponent(sub)}`;
}

async function aStoredReport(world: World): Promise<SampleRequest> {
  const path = await scan(world);
  await world.make("PUT", `${path}/report`, reportOf(path));
  return { path: `${path}/report` };
}

/** A separate check: the same is decided once. */
function aDecision(): unknown {
  return { kind: "waiver", check: randomUUID(), reason: "accepted", expires: "never" };
}

function reportOf(path: string): unknown {
  return reportUpload(path.slice(-36)).body;
}

/** Keys are method and path, as the gateway's table has them. */
const samples: Readonly<Record<string, MakeSample>> = {
  "PUT /api/v1/seen": at("/api/v1/seen"),
  "PATCH /api/v1/tenant": at("/api/v1/tenant", { name: walkName }),
  "DELETE /api/v1/tenant": async () => ({
    path: "/api/v1/tenant",
    json: { name: walkName },
    instead: { json: { name: "another name" }, status: 422 },
  }),
  "POST /api/v1/channels/:channel/events": async ({ tenant }) => ({
    path: `/api/v1/channels/job:${tenant.id}:${randomUUID()}/events`,
    json: event,
  }),
  "POST /api/v1/stream-tokens": at("/api/v1/stream-tokens", { event_stream: "/api/v1/event-stream" }),
  "POST /api/v1/scans": at("/api/v1/scans", {}),
  "PUT /api/v1/scans/:id": async () => ({ path: `/api/v1/scans/${randomUUID()}`, json: {} }),
  "GET /api/v1/scans/:id": ofScan(""),
  "PATCH /api/v1/scans/:id": ofScan("", { status: "running" }),
  "DELETE /api/v1/scans/:id": ofScan(""),
  "POST /api/v1/scans/:id/cancel": ofScan("/cancel", {}),
  "GET /api/v1/scans/:id/findings": ofScan("/findings"),
  "PUT /api/v1/scans/:id/report": async (world) => {
    const path = await scan(world);
    return { path: `${path}/report`, json: reportOf(path) };
  },
  "GET /api/v1/scans/:id/report": aStoredReport,
  "GET /api/v1/scans/:id/event-stream": ofScan("/event-stream"),
  "GET /api/v1/organizations/:id": ofOrganization(""),
  "GET /api/v1/organizations/:id/history": ofOrganization("/history"),
  "GET /api/v1/organizations/:id/exposures": ofOrganization("/exposures"),
  "DELETE /api/v1/organizations/:id": ofOrganization(""),
  "PUT /api/v1/monitors/:id": async () => ({ path: `/api/v1/monitors/${randomUUID()}`, json: monitor }),
  "GET /api/v1/monitors/:id": ofMonitor(""),
  "PATCH /api/v1/monitors/:id": ofMonitor("", { lag_seconds: 1 }),
  "DELETE /api/v1/monitors/:id": ofMonitor(""),
  "GET /api/v1/monitors/:id/changes": ofMonitor("/changes"),
  "GET /api/v1/monitors/:id/findings": ofMonitor("/findings"),
  "GET /api/v1/monitors/:id/event-stream": ofMonitor("/event-stream"),
  "POST /api/v1/decisions": async () => ({ path: "/api/v1/decisions", json: aDecision() }),
  "DELETE /api/v1/decisions/:id": async ({ make }) => ({
    path: `/api/v1/decisions/${String((await make("POST", "/api/v1/decisions", aDecision()))["id"])}`,
  }),
  "POST /api/v1/members": async () => ({ path: "/api/v1/members", json: { sub: `${randomUUID()}@walk.test` } }),
  "PATCH /api/v1/members/:sub": async (world) => ({ path: await aMember(world), json: { role: "operator" } }),
  "DELETE /api/v1/members/:sub": async (world) => ({ path: await aMember(world) }),
  "POST /api/v1/api-keys": at("/api/v1/api-keys", { name: "walk", scopes: ["admin"] }),
  "DELETE /api/v1/api-keys/:id": async ({ make }) => ({
    path: `/api/v1/api-keys/${String((await make("POST", "/api/v1/api-keys", { name: "walk" }))["id"])}`,
  }),
};
