import type { FeatureDescription } from "../http/docs/feature_description.ts";
import { decisionsDescription } from "./decisions/description.ts";
import { monitorsDescription } from "./monitors/description.ts";
import { organizationsDescription } from "./organizations/description.ts";
import { scansDescription } from "./scans/description.ts";
import { teamDescription } from "./team/description.ts";
import { tenantDescription } from "./tenant/description.ts";
import { webhooksDescription } from "./webhooks/description.ts";

/** For the documents only, which load it when they are first requested. */
export const featureDescriptions: readonly FeatureDescription[] = [
  scansDescription,
  monitorsDescription,
  organizationsDescription,
  teamDescription,
  decisionsDescription,
  tenantDescription,
  webhooksDescription,
];
