import { logStream } from "../objects/log_stream_objects.ts";
import { smartCardIdp } from "../objects/smart_card_idp.ts";
import { fieldOf } from "./draft.ts";
import { create, findNamed, findResource, isOwnZone, ownZone, remove, replaceIdpKey, update } from "./object_edits.ts";
import { fieldSetting, inList, setting, statusSetting, type Setting } from "./setting.ts";
import type { OrgContents, Resource } from "../objects/org_contents.ts";

const secondStream = "Second archive";
const allAddresses = [{ type: "CIDR", value: "0.0.0.0/0" }];

/** Settings of what signing in and logging rest on: log streams, network zones, authenticators, smart cards. */
export const platformSettings: readonly Setting[] = [
  statusSetting(
    ["Log streams", "Log stream"],
    inList("logStreams", "log stream"),
    ["log-stream-off", "Stop the log stream"],
    ["log-stream-on", "Start the log stream"],
  ),
  setting<boolean>(
    ["Log streams", "Number of log streams"],
    ({ logStreams }) => String(logStreams.length),
    (draft, isThere) => {
      const settings = { accountId: "123456789012", eventSourceName: "practice_second", region: "us-east-1" };
      const second = logStream(draft.site, { name: secondStream, type: "aws_eventbridge", settings });
      if (isThere) create(draft, "logStreams", second);
      else remove(draft, "logStreams", findNamed(draft.contents, "logStreams", secondStream));
    },
    ["log-stream-added", "Add a second log stream", true],
    ["log-stream-deleted", "Delete the second log stream", false],
  ),
  statusSetting(
    ["Network zones", "First network zone"],
    inList("zones", "separate network zone", isOwnZone),
    ["zone-off", "Switch off the first network zone"],
    ["zone-on", "Switch on the first network zone"],
  ),
  setting<boolean>(
    ["Network zones", "Addresses of the first network zone"],
    (contents) => addressesOf(ownZone(contents)),
    (draft, isWide) => {
      const gateways = isWide ? allAddresses : ownZone(draft.initial)["gateways"];
      update(draft, "zones", ownZone(draft.contents), (zone) => ({ ...zone, gateways }));
    },
    ["zone-widened", "Add all addresses to the first network zone", true],
    ["zone-narrowed", "Take them out again", false],
  ),
  statusSetting(
    ["Network zones", "Anonymizers blocked"],
    inList("zones", "enhanced dynamic zone", (zone) => zone["name"] === "DefaultEnhancedDynamicZone"),
    ["anonymizers-allowed", "Stop blocking anonymizers"],
    ["anonymizers-blocked", "Block anonymizers"],
  ),
  statusSetting(
    ["Authenticators", "Smart card authenticator"],
    inList("authenticators", "smart card authenticator", (item) => item["key"] === "smart_card_idp"),
    ["smart-card-off", "Switch off the smart card authenticator"],
    ["smart-card-on", "Switch on the smart card authenticator"],
  ),
  fieldSetting(
    ["Authenticators", "Okta Verify: FIPS"],
    inList("authenticators", "Okta Verify", (item) => item["key"] === "okta_verify"),
    ["settings", "compliance", "fips"],
    String,
    ["fips-off", "Let Okta Verify run without FIPS", "OPTIONAL"],
    ["fips-on", "Require FIPS of Okta Verify", "REQUIRED"],
  ),
  statusSetting(
    ["Smart card identity provider", "Smart card identity provider"],
    inList("identityProviders", "smart card identity provider"),
    ["idp-off", "Switch off the smart card identity provider"],
    ["idp-on", "Switch on the smart card identity provider"],
  ),
  setting<"company" | "dod">(
    ["Smart card identity provider", "Trusted certificate authority"],
    (contents) => String(fieldOf(cardProvider(contents), ["protocol", "credentials", "trust", "issuer"])),
    (draft, issuedBy) => {
      const provider = cardProvider(draft.contents);
      const { identityProvider, key } = smartCardIdp(draft.site, { name: String(provider["name"]), issuedBy });
      replaceIdpKey(draft, provider, identityProvider, key);
    },
    ["idp-untrusted", "Trust a company's certificate authority", "company"],
    ["idp-trusted", "Trust the DOD's certificate authority", "dod"],
  ),
];

function addressesOf(zone: Resource): string {
  return (zone["gateways"] as readonly { readonly value: string }[]).map(({ value }) => value).join(", ");
}

function cardProvider(contents: OrgContents): Resource {
  return findResource(contents, "identityProviders", "smart card identity provider", () => true);
}
