import { afterAll, beforeAll } from "vitest";
import { permissionCases } from "../../contract/permission_cases.ts";
import type { GatewayControl, GatewayUnderTest } from "../../contract/harness.ts";
import { permissions } from "../../../gateway/auth/permissions.ts";
import { servedRoutes } from "../../support/served_routes.ts";
import { describeGateway } from "../../edge/gateway_under_test.ts";
import { member, startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let gateway: TestGateway;
let underTest: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startTestGateway();
  const withSub = (tenant: TestGateway["acme"]) => ({ ...tenant, sub: member });
  // The walk needs no more of it.
  const control: Pick<GatewayControl, "createTenant" | "sign" | "addUser"> = {
    createTenant: async (name) => withSub(await gateway.createTenant(name)),
    addUser: async (tenantId, sub, role) => {
      await gateway.gateway.admin("user.create", { tenant: tenantId, sub, role });
    },
    sign: (claims, lifetimeSeconds = 600) =>
      gateway.sign({ ...claims, exp: Math.floor(Date.now() / 1000) + lifetimeSeconds }),
  };
  underTest = {
    url: gateway.url.replace(/\/$/, ""),
    tenant: withSub(gateway.acme),
    strangerApiKey: gateway.globex.apiKey,
    control: control as GatewayControl,
  };
});
afterAll(() => gateway.stop());

const routes = servedRoutes().flatMap(({ access, ...route }) =>
  access === "public" ? [] : [{ ...route, access, permission: access === "session" ? null : permissions[access] }],
);
describeGateway("on Node, in this process", permissionCases(routes), () => underTest);
