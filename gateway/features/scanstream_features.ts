import type { Feature } from "./features.ts";
import type { Keeping } from "./retention.ts";
import { decisions } from "./decisions/routes.ts";
import { monitors } from "./runs/monitors.ts";
import { organizations } from "./organizations/routes.ts";
import { scans } from "./runs/scans.ts";
import { team } from "./team/routes.ts";
import { tenantFeature } from "./tenant/routes.ts";

/** The features of scanstream's own gateway. */
export function scanstreamFeatures(keeping: Keeping): readonly Feature[] {
  return [scans, monitors, organizations, decisions, team, tenantFeature(keeping)];
}
