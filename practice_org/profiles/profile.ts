import { classicOrg } from "./classic.ts";
import { compliantOrg } from "./compliant.ts";
import { directoryOrg } from "./directory.ts";
import { edgeOrg } from "./edge.ts";
import { emptyOrg } from "./empty.ts";
import { largeOrg, smallestLargeOrg } from "./large.ts";
import { typicalOrg } from "./typical.ts";
import type { OrgContents, Site } from "../objects/org_contents.ts";

export type Profile = { readonly name: keyof typeof fixedOrgs } | { readonly name: "large"; readonly appCount: number };

const mostApps = 1_000_000;

/** Throws a `RangeError` that names what is expected. */
export function parseProfile(text: string): Profile {
  if (isFixed(text)) return { name: text };
  const [name, count, ...rest] = text.split(":");
  if (name !== "large") {
    throw new RangeError(
      `Cannot use profile "${text}": expected one of ${[...Object.keys(fixedOrgs), "large:N"].join(", ")}`,
    );
  }
  const appCount = rest.length === 0 && /^[0-9]{1,7}$/.test(count ?? "") ? Number(count) : Number.NaN;
  if (!(appCount >= smallestLargeOrg && appCount <= mostApps)) {
    throw new RangeError(
      `Cannot use profile "${text}": expected large:N with a whole number N from ${smallestLargeOrg} ` +
        `(the provider's own apps and the service application) to ${mostApps}, such as large:10000`,
    );
  }
  return { name: "large", appCount };
}

export function profileContents(profile: Profile, site: Site): OrgContents {
  return profile.name === "large" ? largeOrg(site, profile.appCount) : fixedOrgs[profile.name](site);
}

function isFixed(name: string): name is keyof typeof fixedOrgs {
  return Object.hasOwn(fixedOrgs, name);
}

const fixedOrgs = {
  /** A realistic org: some checks pass, some fail, some need a person. */
  typical: typicalOrg,
  /** Configured as the STIG asks: no rule fails. */
  compliant: compliantOrg,
  /** A fresh org, not configured yet. */
  empty: emptyOrg,
  /** A fresh org of the Classic Engine: apps without policies, no authenticators API. */
  classic: classicOrg,
  /** Compliant, but for rare cases: rules for a few people, rules that deny, hidden banners, a split Okta Verify. */
  edge: edgeOrg,
  /** Compliant, with users of Active Directory: what DISA leaves to the directory is as Okta has it. */
  directory: directoryOrg,
} as const;
