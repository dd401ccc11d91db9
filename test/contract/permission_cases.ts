import assert from "node:assert/strict";
import { call, refused, type GatewayCase, type GatewayUnderTest } from "./harness.ts";
import { castOf, type Caller, type ProtectedRoute } from "./callers.ts";

/** Requests that can be carried out, of each permission at least one; others have ids that nothing has, and no body. */
const bodies: Readonly<Record<string, () => unknown>> = {
  "POST /api/v1/scans": () => ({}),
  "POST /api/v1/channels/:channel/events": () => ({ type: "job.progress", data: { n: 1 } }),
  "POST /api/v1/stream-tokens": () => ({ event_stream: "/api/v1/event-stream" }),
  // A separate check for each: the same is decided once.
  "POST /api/v1/decisions": () => ({
    kind: "waiver",
    check: crypto.randomUUID(),
    reason: "accepted",
    expires: "never",
  }),
  "POST /api/v1/members": () => ({ sub: `${crypto.randomUUID()}@walk.test` }),
  "POST /api/v1/api-keys": () => ({ name: "walk", scopes: ["admin"] }),
};

/** Every route × every role × every set of scopes: refused exactly where the route's permission says it. */
export function permissionCases(routes: readonly ProtectedRoute[]): readonly GatewayCase[] {
  return routes.map((route) => ({
    name: `${route.method} ${route.path} is for those who may ${route.access}`,
    run: (gateway) => walk(gateway, route),
  }));
}

async function walk(gateway: GatewayUnderTest, route: ProtectedRoute): Promise<void> {
  const { tenant, callers } = await castOf(gateway);
  const path = route.path.replace(":channel", `job:${tenant.id}:1`).replaceAll(/:(?:id|sub)\b/g, "nonsense");
  const body = bodies[`${route.method} ${route.path}`];
  const isCarriedOut = body !== undefined || (route.method === "GET" && !route.path.includes(":"));
  assert.ok(
    callers.some((caller) => caller.expected(route) === "allowed"),
    "nobody may",
  );
  for (const caller of callers) {
    const expected = caller.expected(route);
    await named(caller, async () => {
      const response = await send(gateway, route, caller, path, body?.());
      if (expected !== "allowed") return refused(response, expected);
      await response.body?.cancel();
      if (isCarriedOut) assert.ok(response.ok, `expected to be carried out: ${response.status}`);
      return assert.ok(![401, 403].includes(response.status), `expected to be allowed: ${response.status}`);
    });
    // The role counts also for who names themselves.
    if (expected === "allowed" || caller.sub === undefined || !route.path.includes(":sub")) continue;
    const own = route.path.replace(":sub", encodeURIComponent(caller.sub));
    await named(caller, async () => refused(await send(gateway, route, caller, own), expected));
  }
}

function send(
  gateway: GatewayUnderTest,
  { method }: ProtectedRoute,
  { as }: Caller,
  path: string,
  json?: unknown,
): Promise<Response> {
  return call(gateway, path, { method, ...(as !== null && { as }), ...(json !== undefined && { json }) });
}

async function named(caller: Caller, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${caller.name}: ${error.message}`;
    throw error;
  }
}
