import { recordedOrg, recordings } from "../../practice_org/contents/profile.ts";
import type { OrgContents, Site } from "../../practice_org/contents/org_contents.ts";
import denying from "../fixtures/orgs/denying.json" with { type: "json" };
import failing from "../fixtures/orgs/failing.json" with { type: "json" };

/** An org in which every rule fails that Terraform can fix, and the two about network zones of rules. */
export function failingOrg(site: Site): OrgContents {
  return recordedOrg(site, [...recordings.compliant, failing]);
}

/** The failing org, with rules that deny before and after others that allow. */
export function denyingOrg(site: Site): OrgContents {
  return recordedOrg(site, [...recordings.compliant, failing, denying]);
}
