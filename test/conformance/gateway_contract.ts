import type { GatewayCase } from "./gateway_harness.ts";
import { decisionCases } from "./gateway_decision_cases.ts";
import { httpCases } from "./gateway_http_cases.ts";
import { keepingCases } from "./gateway_keeping_cases.ts";
import { monitorCases } from "./gateway_monitor_cases.ts";
import { scanCases } from "./gateway_scan_cases.ts";
import { sessionCases } from "./gateway_session_cases.ts";
import { streamCases } from "./gateway_stream_cases.ts";
import { tenantCases } from "./gateway_tenant_cases.ts";
import { webhookCases } from "./gateway_webhook_cases.ts";
import { endedAuthorityCases } from "./permissions/ended_authority_cases.ts";
import { permissionCases } from "./permissions/permission_cases.ts";

/** Everything that a gateway promises to its clients, on every runtime. */
export const gatewayContract: readonly GatewayCase[] = [
  ...httpCases,
  ...scanCases,
  ...keepingCases,
  ...monitorCases,
  ...decisionCases,
  ...tenantCases,
  ...sessionCases,
  ...webhookCases,
  ...streamCases,
  ...endedAuthorityCases,
  ...permissionCases,
];
