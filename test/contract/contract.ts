import type { GatewayCases } from "./harness.ts";
import { endedAuthorityCases } from "./ended_authority_cases.ts";
import { asSentCases, httpCases } from "./http_cases.ts";
import { keepingCases } from "./keeping_cases.ts";
import { promiseCases } from "./promise_cases.ts";
import { sessionCases } from "./session_cases.ts";
import { streamCases } from "./stream_cases.ts";
import { tenantCases } from "./tenant_cases.ts";
import { addressCases, useCases } from "./use_cases.ts";

/** Cases in which a runtime's I/O takes part: its sockets, its driver of PostgreSQL, its broker, its timers. */
export const workersContract: GatewayCases = {
  ...httpCases,
  ...addressCases,
  ...keepingCases,
  ...tenantCases,
  ...streamCases,
  ...endedAuthorityCases,
  ...promiseCases,
};

export const denoContract: GatewayCases = { ...workersContract, ...asSentCases };

/** Everything that a gateway promises to its clients but who may do what, for which see `gateway/auth/permissions.test.ts`. */
export const nodeContract: GatewayCases = { ...denoContract, ...useCases, ...sessionCases };
