import { defaultScopes } from "../settings/values.ts";

/** Needs of a scan in an org, in the order in which a person makes it: the list of `setup`; `doctor` examines the same. */

/** Without prefix. A scan has gaps without one of these. */
export const requiredScopes: readonly string[] = defaultScopes;
/** Without prefix: what each is good for beyond a scan. */
export const optionalScopes: Readonly<Record<string, string>> = {
  "logs.read": "follow",
  "orgs.read": "the setting of public client apps",
};

export interface ConsoleStep {
  readonly title: string;
  readonly clicks: readonly string[];
}

/** Clicks for a person, in this order, signed in as a Super Administrator. */
export const consoleSteps: readonly ConsoleStep[] = [
  {
    title: "Create the app",
    clicks: [
      "In the Admin Console, open Applications → Applications.",
      "Create App Integration → API Services → Next.",
      'App integration name: scanstream. Save. Copy the "Client ID".',
    ],
  },
  {
    title: "Save the public key in this app",
    clicks: [
      'General → Client Credentials → Edit → "Public key / Private key".',
      'Add key → paste the line above that begins with {"kty" → Done → Save.',
    ],
  },
  {
    title: "Grant the scopes to this app",
    clicks: [
      `Okta API Scopes → Grant: ${requiredScopes.map((scope) => `okta.${scope}`).join(", ")}.`,
      ...Object.entries(optionalScopes).map(([scope, use]) => `Optional: okta.${scope}, for ${use}.`),
    ],
  },
  {
    title: "Give this app a role that can only read",
    clicks: ["Admin roles → Edit assignments → Read-Only Administrator → Save."],
  },
];
