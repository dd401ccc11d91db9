import { classicOrg } from "./classic.ts";
import { compliantOrg } from "./compliant.ts";
import { edgeOrg } from "./edge.ts";
import { emptyOrg } from "./empty.ts";
import { guardedOrg } from "./guarded.ts";
import { largeOrg, smallestLargeOrg } from "./large.ts";
import { narrowOrg } from "./narrow.ts";
import { typicalOrg } from "./typical.ts";
import { unclearOrg } from "./unclear.ts";
import type { OrgContents, Site } from "../objects/org_contents.ts";

/** What `--profile` takes, with one line on each. */
export const profileNames = {
  typical: "a realistic org: some checks pass, some fail, some need a person",
  compliant: "configured as the STIG asks: every check passes",
  empty: "a fresh org, not configured yet",
  narrow: "compliant, but for some people only: lax zones, hidden banners, a brand without a domain",
  classic: "a fresh org of the Classic Engine: apps without policies, no authenticators API",
  unclear: "a fresh org with a split Okta Verify, a directory, and a key that is gone",
  edge: "compliant, but for rare cases: rules that deny, zones left out, a directory as well as Okta",
  guarded: "typical, with rules that a careless fix would undo: they deny, or come before others",
  "large:N": `N apps (${smallestLargeOrg} to 1000000) that share a few policies, such as large:10000`,
} as const;

export type Profile = { readonly name: keyof typeof fixedOrgs } | { readonly name: "large"; readonly appCount: number };

const mostApps = 1_000_000;

/** Throws a `RangeError` that names what is expected. */
export function parseProfile(text: string): Profile {
  if (isFixed(text)) return { name: text };
  const [name, count, ...rest] = text.split(":");
  if (name !== "large") {
    throw new RangeError(`Cannot use profile "${text}": expected one of ${Object.keys(profileNames).join(", ")}`);
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
  typical: typicalOrg,
  compliant: compliantOrg,
  empty: emptyOrg,
  narrow: narrowOrg,
  classic: classicOrg,
  unclear: unclearOrg,
  edge: edgeOrg,
  guarded: guardedOrg,
} as const;
