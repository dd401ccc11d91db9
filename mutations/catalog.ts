import { decisionFiles } from "./decision_files.ts";
import { faults } from "./faults.ts";
import { gatewayDecisions } from "./gateway_decisions.ts";
import { gettingIn } from "./getting_in.ts";
import { limits } from "./limits.ts";
import type { Mutation } from "./mutation.ts";
import { operating } from "./operating.ts";
import { otherTenants } from "./other_tenants.ts";
import { processFaults } from "./process_faults.ts";
import { provider } from "./provider.ts";
import { reports } from "./reports.ts";
import { secrets } from "./secrets.ts";
import { signingIn } from "./signing_in.ts";
import { streamPromises } from "./stream_promises.ts";
import { streams } from "./streams.ts";
import { team } from "./team.ts";
import { verdictPromises } from "./verdict_promises.ts";
import { webhooks } from "./webhooks.ts";

/** Every mistake that a test must see. */
export const mutations: readonly Mutation[] = [
  ...gettingIn,
  ...team,
  ...signingIn,
  ...otherTenants,
  ...streams,
  ...limits,
  ...webhooks,
  ...provider,
  ...reports,
  ...secrets,
  ...operating,
  ...faults,
  ...processFaults,
  ...decisionFiles,
  ...gatewayDecisions,
  ...streamPromises,
  ...verdictPromises,
];
