/** The data of a practice org: the provider's objects as it sends them, without any behaviour. */

import type { JsonObject } from "../../shared/json.ts";

export interface Resource extends JsonObject {
  readonly id: string;
}

export interface App extends Resource {
  readonly name: string;
  readonly label: string;
  readonly status: string;
}

export interface Policy extends Resource {
  readonly type: string;
  readonly name: string;
  readonly status: string;
}

export interface PolicyWithRules {
  readonly policy: Policy;
  readonly rules: readonly Resource[];
}

export interface BrandWithPages {
  readonly brand: Resource;
  /** Null: the brand has never been customized, and the provider answers 404. */
  readonly customizedPage: JsonObject | null;
  readonly domains: readonly JsonObject[];
}

export interface User {
  readonly user: Resource;
  readonly roles: readonly Resource[];
  readonly groupIds: readonly string[];
}

export interface Group {
  readonly group: Resource;
  readonly roles: readonly Resource[];
}

/** The lists of an org whose entries are plain objects. */
export type ListName = "zones" | "authenticators" | "apiTokens" | "logStreams" | "identityProviders";

export interface OrgContents {
  readonly id: string;
  readonly name: string;
  /** `idx` is the Identity Engine, `v1` the Classic Engine. */
  readonly pipeline: "idx" | "v1";
  readonly adminConsoleSettings: JsonObject;
  /** Every app but the service application of the scan, which the org adds itself. */
  readonly apps: readonly App[];
  /** Ids of the apps that are assigned to the service application's role, which it sees below Super Administrator too. */
  readonly assignedApps?: readonly string[];
  /** Ids of the policies and brands that are not in the custom role's resource set: its lists leave them out. */
  readonly outsideResourceSet?: readonly string[];
  /** The policy that the service application is bound to; null on the Classic Engine, whose apps have none. */
  readonly serviceAppPolicyId: string | null;
  /** Paths of features that the org does not have: 401 E0000015. */
  readonly missingFeatures?: readonly string[];
  readonly policies: readonly PolicyWithRules[];
  readonly brands: readonly BrandWithPages[];
  readonly authenticators: readonly Resource[];
  readonly zones: readonly Resource[];
  readonly apiTokens: readonly Resource[];
  readonly logStreams: readonly Resource[];
  readonly identityProviders: readonly Resource[];
  readonly identityProviderKeys: readonly (JsonObject & { readonly kid: string })[];
  readonly users: readonly User[];
  readonly groups: readonly Group[];
  readonly customRoles: readonly Resource[];
}

/** The org's address, which is part of every link, and the time of its start, from which expiries count. */
export interface Site {
  /** `http://127.0.0.1:41234`, without a trailing slash. */
  readonly url: string;
  readonly nowMs: number;
}

/** The provider's own apps, which only Super Administrators see. */
export function isFirstPartyApp(name: string): boolean {
  return name === "saasure" || name.startsWith("okta_");
}

/**
 * True when a brand is the subdomain brand of an org with several brands. Okta does not let anybody edit the code of its
 * pages: see "About subdomain brands and custom brands" at https://developer.okta.com/docs/concepts/brands/.
 */
export function isSubdomainBrand({ brand: { isDefault } }: BrandWithPages, { brands }: Pick<OrgContents, "brands">) {
  return isDefault === true && brands.length > 1;
}
