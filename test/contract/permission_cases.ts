import assert from "node:assert/strict";
import { call, refused, type CallOptions, type GatewayCase, type GatewayUnderTest } from "./harness.ts";
import { castOf, type Caller, type ProtectedRoute } from "./callers.ts";
import { sampleOf, type SampleRequest } from "./sample_requests.ts";

/**
 * Every route × every role × every set of scopes, with a request that would be carried out: refused exactly where the route's
 * permission says it, and carried out where not.
 */
export function permissionCases(routes: readonly ProtectedRoute[]): readonly GatewayCase[] {
  return routes.map((route) => ({
    name: `${route.method} ${route.path} is for those who may ${route.access}`,
    run: (gateway) => walk(gateway, route),
  }));
}

async function walk(gateway: GatewayUnderTest, route: ProtectedRoute): Promise<void> {
  const cast = await castOf(gateway);
  const isAllowed = (caller: Caller) => caller.expected(route) === "allowed";
  const sample = await sampleOf(gateway, route, cast);
  for (const caller of cast.callers.filter((each) => !isAllowed(each))) {
    const status = caller.expected(route) === 401 ? 401 : 403;
    const { sub } = caller;
    // The role counts before what the path names: also for who names themselves, and for an id that nothing has.
    const paths = [
      sample.path,
      ...(/:(?:id|channel)\b/.test(route.path) ? [route.path.replaceAll(/:\w+/g, "nonsense")] : []),
      ...(sub === undefined ? [] : [route.path.replace(":sub", encodeURIComponent(sub))]),
    ];
    for (const path of new Set(paths.filter((each) => !each.includes("/:")))) {
      const request = { ...sample, path };
      await named(caller, async () => refused(await send(gateway, route, request, caller), status));
    }
  }
  const allowed = cast.callers.filter(isAllowed);
  assert.notEqual(allowed.length, 0, "nobody may");
  for (const [index, caller] of allowed.entries()) {
    // The first one makes the request that was refused to the others: it is still there to be carried out.
    const request = index === 0 ? sample : await sampleOf(gateway, route, cast);
    await named(caller, async () => {
      const { path, json, instead } = request;
      const response = await send(gateway, route, { path, json: instead?.json ?? json }, caller);
      const isCarriedOut = instead === undefined ? response.ok : response.status === instead.status;
      assert.ok(isCarriedOut, `expected to be allowed: ${response.status}`);
      await response.body?.cancel();
    });
  }
}

function send(gateway: GatewayUnderTest, { method }: ProtectedRoute, { path, json }: SampleRequest, { as }: Caller) {
  const options: CallOptions = { method, ...(as === null ? {} : { as }), ...(json === undefined ? {} : { json }) };
  return call(gateway, path, options);
}

async function named(caller: Caller, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `${caller.name}: ${error.message}`;
    throw error;
  }
}
