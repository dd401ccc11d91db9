import { permissionCases } from "../../contract/permission_cases.ts";
import type { GatewayControl } from "../../contract/harness.ts";
import { permissions } from "../../../gateway/auth/permissions.ts";
import type { TestOperator } from "../../support/operator.ts";
import { servedRoutes } from "../../support/served_routes.ts";
import { describeGateway } from "../../edge/edge_gateway.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

const gateway = await openTestGateway();
// The walk needs nothing of the broker.
const control = gateway as TestOperator as GatewayControl;
const underTest = { url: gateway.url, tenant: gateway.acme, strangerApiKey: gateway.globex.apiKey, control };

const routes = servedRoutes().flatMap(({ access, ...route }) =>
  access === "public" ? [] : [{ ...route, access, permission: access === "session" ? null : permissions[access] }],
);
describeGateway("on Node, in this process", permissionCases(routes), () => underTest);
