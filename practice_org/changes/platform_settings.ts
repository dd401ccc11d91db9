import { logStream } from "../objects/log_stream_objects.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { fieldOf, withField, type Draft, type ListName, type Status } from "./draft.ts";
import {
  create,
  findNamed,
  findResource,
  isOwnZone,
  ownZone,
  remove,
  replaceIdpKey,
  setStatus,
  update,
} from "./object_edits.ts";
import type { Setting } from "./setting.ts";
import type { OrgContents, Resource } from "../objects/org_contents.ts";

const secondStream = "Second archive";

/** Settings of what signing in and logging rest on: log streams, network zones, authenticators, smart cards. */
export const platformSettings: readonly Setting[] = [
  statusSetting("Log streams", "Log stream", {
    list: "logStreams",
    what: "log stream",
    isWanted: () => true,
    off: ["log-stream-off", "Stop the log stream"],
    on: ["log-stream-on", "Start the log stream"],
  }),
  {
    area: "Log streams",
    label: "Number of log streams",
    present: ({ logStreams }) => String(logStreams.length),
    changes: [
      {
        name: "log-stream-added",
        label: "Add a second log stream",
        make: (draft) =>
          create(
            draft,
            "logStreams",
            logStream(draft.site, {
              name: secondStream,
              type: "aws_eventbridge",
              settings: { accountId: "123456789012", eventSourceName: "practice_second", region: "us-east-1" },
            }),
          ),
      },
      {
        name: "log-stream-deleted",
        label: "Delete the second log stream",
        make: (draft) => remove(draft, "logStreams", findNamed(draft.contents, "logStreams", secondStream)),
      },
    ],
  },
  statusSetting("Network zones", "First network zone", {
    list: "zones",
    what: "separate network zone",
    isWanted: isOwnZone,
    off: ["zone-off", "Switch off the first network zone"],
    on: ["zone-on", "Switch on the first network zone"],
  }),
  {
    area: "Network zones",
    label: "Addresses of the first network zone",
    present: (contents) => addressesOf(ownZone(contents)),
    changes: [
      {
        name: "zone-widened",
        label: "Add all addresses to the first network zone",
        make: (draft) =>
          update(draft, "zones", ownZone(draft.contents), (zone) => ({
            ...zone,
            gateways: [{ type: "CIDR", value: "0.0.0.0/0" }],
          })),
      },
      {
        name: "zone-narrowed",
        label: "Take them out again",
        make: (draft) =>
          update(draft, "zones", ownZone(draft.contents), (zone) => ({
            ...zone,
            gateways: ownZone(draft.initial)["gateways"],
          })),
      },
    ],
  },
  statusSetting("Network zones", "Anonymizers blocked", {
    list: "zones",
    what: "enhanced dynamic zone",
    isWanted: (zone) => zone["name"] === "DefaultEnhancedDynamicZone",
    off: ["anonymizers-allowed", "Stop blocking anonymizers"],
    on: ["anonymizers-blocked", "Block anonymizers"],
  }),
  statusSetting("Authenticators", "Smart card authenticator", {
    list: "authenticators",
    what: "smart card authenticator",
    isWanted: (item) => item["key"] === "smart_card_idp",
    off: ["smart-card-off", "Switch off the smart card authenticator"],
    on: ["smart-card-on", "Switch on the smart card authenticator"],
  }),
  {
    area: "Authenticators",
    label: "Okta Verify: FIPS",
    present: (contents) => String(fieldOf(oktaVerifyOf(contents), fipsPath)),
    changes: [
      { name: "fips-off", label: "Let Okta Verify run without FIPS", make: setFips("OPTIONAL") },
      { name: "fips-on", label: "Require FIPS of Okta Verify", make: setFips("REQUIRED") },
    ],
  },
  statusSetting("Smart card identity provider", "Smart card identity provider", {
    list: "identityProviders",
    what: "smart card identity provider",
    isWanted: () => true,
    off: ["idp-off", "Switch off the smart card identity provider"],
    on: ["idp-on", "Switch on the smart card identity provider"],
  }),
  {
    area: "Smart card identity provider",
    label: "Trusted certificate authority",
    present: (contents) => String(fieldOf(cardProvider(contents), ["protocol", "credentials", "trust", "issuer"])),
    changes: [
      {
        name: "idp-untrusted",
        label: "Trust a company's certificate authority",
        make: setTrust("company"),
      },
      { name: "idp-trusted", label: "Trust the DOD's certificate authority", make: setTrust("dod") },
    ],
  },
];

interface StatusSpec {
  readonly list: Exclude<ListName, "apiTokens">;
  readonly what: string;
  readonly isWanted: (item: Resource) => boolean;
  readonly off: readonly [name: string, label: string];
  readonly on: readonly [name: string, label: string];
}

function statusSetting(area: string, label: string, { list, what, isWanted, off, on }: StatusSpec): Setting {
  const change = ([name, text]: readonly [string, string], status: Status) => ({
    name,
    label: text,
    make: (draft: Draft) => setStatus(draft, list, findResource(draft.contents, list, what, isWanted), status),
  });
  return {
    area,
    label,
    present: (contents) => {
      const item = findResource(contents, list, what, isWanted);
      return `${String(item["name"])}: ${String(item["status"])}`;
    },
    changes: [change(off, "INACTIVE"), change(on, "ACTIVE")],
  };
}

function addressesOf(zone: Resource): string {
  return (zone["gateways"] as readonly { readonly value: string }[]).map(({ value }) => value).join(", ");
}

const fipsPath = ["settings", "compliance", "fips"];

function oktaVerifyOf(contents: OrgContents): Resource {
  return findResource(contents, "authenticators", "Okta Verify", (item) => item["key"] === "okta_verify");
}

function setFips(value: "OPTIONAL" | "REQUIRED") {
  return (draft: Draft) =>
    update(draft, "authenticators", oktaVerifyOf(draft.contents), (item) => withField(item, fipsPath, value));
}

function cardProvider(contents: OrgContents): Resource {
  return findResource(contents, "identityProviders", "smart card identity provider", () => true);
}

function setTrust(issuedBy: "dod" | "company") {
  return (draft: Draft) => {
    const provider = cardProvider(draft.contents);
    const { identityProvider, key } = smartCardIdp(draft.site, { name: String(provider["name"]), issuedBy });
    replaceIdpKey(draft, provider, identityProvider, key);
  };
}
