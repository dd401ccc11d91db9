import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { permissions } from "../../../gateway/auth/permissions.ts";
import { refused } from "../../../gateway/library/contract_client.ts";
import { roleSchema, scopeSchema, type Role, type Scope } from "../../../shared/schemas/team.ts";
import { createKey } from "../../contract/harness.ts";
import { servedRoutes } from "../../support/served_routes.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

/** Every route × every role × every scope: refused exactly where the route's permission says it. */

const gateway = await openTestGateway();
const tenant = gateway.acme;

interface Caller {
  readonly name: string;
  readonly as?: string;
  /** The subject of a valid token, who need not be a member. */
  readonly sub?: string;
  readonly role?: Role;
  readonly scopes?: readonly Scope[];
}

// `contract/use_cases.ts` has credentials that are not valid.
const callers: Caller[] = [{ name: "nobody" }, await person("a user who is no member", "outsider")];
for (const role of roleSchema.options) {
  await gateway.addUser(tenant.id, role, role);
  callers.push({ ...(await person(`a member who is ${role}`, role)), role });
}
// Each alone, and all of them: no permission needs two.
for (const scopes of [...scopeSchema.options.map((scope) => [scope]), scopeSchema.options]) {
  const name = `a key with ${scopes.join(" and ")}`;
  // A person makes it, because no key makes keys.
  const { as } = await createKey(gateway, callers.find(({ role }) => role === "admin")?.as ?? "", { name, scopes });
  callers.push({ name, as, scopes });
}

async function person(name: string, sub: string): Promise<Caller> {
  return { name, sub, as: `Bearer ${await gateway.sign({ tenant_id: tenant.id, sub })}` };
}

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

const routes = servedRoutes().filter(({ access }) => access !== "public");

test.each(routes)("$method $path is for those who may $access", async ({ method, path: route, access }) => {
  const permission = access === "session" || access === "public" ? null : permissions[access];
  const path = route.replace(":channel", `job:${tenant.id}:1`).replaceAll(/:(?:id|sub)\b/g, "nonsense");
  const body = bodies[`${method} ${route}`];
  const isCarriedOut = body !== undefined || (method === "GET" && !route.includes(":"));
  const mayCall = ({ role, scopes }: Caller) => {
    if (permission === null) return role !== undefined || scopes !== undefined;
    if (role !== undefined) return (permission.roles as readonly Role[]).includes(role);
    const needed: readonly Scope[] = permission.scopes;
    return scopes !== undefined && needed.length > 0 && needed.every((scope) => scopes.includes(scope));
  };
  expect(callers.some(mayCall), "nobody may").toBe(true);
  for (const caller of callers) {
    const { name, as, sub } = caller;
    const credentials = { method, ...(as !== undefined && { as }) };
    const response = await gateway.request(path, { ...credentials, json: body?.() });
    if (mayCall(caller)) {
      await response.body?.cancel();
      if (isCarriedOut) expect(response.ok, `${name}: ${response.status}`).toBe(true);
      expect([401, 403], name).not.toContain(response.status);
      continue;
    }
    const status = as === undefined ? 401 : 403;
    expect(response.status, name).toBe(status);
    await refused(response, status);
    // The role counts also for who names themselves.
    if (sub === undefined || !route.includes(":sub")) continue;
    await refused(await gateway.request(route.replace(":sub", encodeURIComponent(sub)), credentials), status);
  }
});

/** The rows of the table below a heading. */
async function rowsBelow(heading: string, name: string): Promise<readonly string[]> {
  const document = await readFile(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
  const [, below = ""] = document.split(`# ${heading}\n`);
  const [section = ""] = below.split("\n## ");
  return section.split("\n").filter((line) => line.startsWith("| `"));
}

const list = (names: readonly string[]) => (names.length === 0 ? "–" : names.join(", "));

/** One row for each permission, with its routes in the order in which they are served. */
function routeRows(): readonly string[] {
  const nameOf = ({ access }: ReturnType<typeof servedRoutes>[number]) => (access === "public" ? "none" : access);
  return [...Map.groupBy(servedRoutes(), nameOf)].map(([name, routes]) => {
    return `| \`${name}\` | ${routes.map(({ method, path }) => `\`${method} ${path}\``).join(", ")} |`;
  });
}

/** The test above asks of each route what it declares; that it declares the right thing stands here, written down by people. */
test("the documents name for every route the permission, and for every permission the roles and the scope", async () => {
  expect((await rowsBelow("Routes", "reference/routes.md")).toSorted()).toEqual(routeRows().toSorted());
  const named = Object.entries(permissions).map(
    ([name, { roles, scopes, description }]) => `| \`${name}\` | ${list(roles)} | ${list(scopes)} | ${description} |`,
  );
  expect(await rowsBelow("Permissions", "access.md")).toEqual(named);
});
