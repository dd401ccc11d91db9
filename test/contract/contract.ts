import type { GatewayCase } from "./harness.ts";
import { decisionCases } from "./decision_cases.ts";
import { httpCases } from "./http_cases.ts";
import { keepingCases } from "./keeping_cases.ts";
import { monitorCases } from "./monitor_cases.ts";
import { scanCases } from "./scan_cases.ts";
import { sessionCases } from "./session_cases.ts";
import { streamCases } from "./stream_cases.ts";
import { tenantCases } from "./tenant_cases.ts";
import { endedAuthorityCases } from "./ended_authority_cases.ts";
import { permissionCases } from "./permission_cases.ts";

/** What a runtime's I/O takes part in: its sockets, its driver of PostgreSQL, its broker, its timers. */
export const runtimeContract: readonly GatewayCase[] = [
  ...httpCases,
  ...scanCases,
  ...keepingCases,
  ...tenantCases,
  ...streamCases,
  ...endedAuthorityCases,
];

/** Everything that a gateway promises to its clients. What it decides, it decides by the same code on every runtime. */
export const gatewayContract: readonly GatewayCase[] = [
  ...runtimeContract,
  ...monitorCases,
  ...decisionCases,
  ...sessionCases,
  ...permissionCases,
];
