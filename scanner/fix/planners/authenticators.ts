import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { explicitActivityOf } from "../../checks/parsing/activity.ts";
import { readObject, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, type JsonValue } from "../terraform.ts";
import { unknownFields } from "../whole_objects.ts";

const check = "authenticator_okta_verify_fips_compliant";

/** What Terraform carries of the settings. */
const known = [
  "allowedFor",
  "appInstanceId",
  "channelBinding.required",
  "channelBinding.style",
  "compliance.fips",
  "tokenLifetimeInMinutes",
  "userVerification",
  "enrollmentSecurityLevel",
  "userVerificationMethods",
].map((path) => `settings.${path}`);

/** V-273205: the settings of Okta Verify as a whole, for FIPS-compliant devices only. */
export function planOktaVerify(draft: PlanDraft): void {
  for (const failed of draft.failedOf([check])) {
    const { resource } = failed.finding;
    const authenticator = listed(draft.artifacts.authenticators).find((item) => idOf(item) === resource.id);
    if (authenticator === undefined) draft.byHand([failed], "the org has no Okta Verify to import");
    else planAuthenticator(draft, authenticator, failed);
  }
}

function planAuthenticator(draft: PlanDraft, authenticator: JsonObject, failed: Failed): void {
  const settings = readObject(authenticator, "settings");
  const unknown = unknownFields(authenticator, ["settings"], known);
  if (settings.kind !== "value" || Object.keys(settings.value).every((name) => name === "compliance")) {
    return draft.byHand([failed], "the evidence has no more of its settings than FIPS: collect it again");
  }
  if (unknown.length > 0) return draft.byHand([failed], `Terraform would reset ${unknown.join(", ")}`);
  const isActive = explicitActivityOf(authenticator) === "active";
  const resource = draft.resource(
    {
      type: "okta_authenticator",
      name: identifier("authenticator", String(authenticator["id"]), authenticator["name"]),
      title: `Authenticator "${nameOf(authenticator)}"`,
      importId: String(authenticator["id"]),
      attributes: {
        key: String(authenticator["key"]),
        name: String(authenticator["name"]),
        status: "ACTIVE",
      },
    },
    [failed],
  );
  // The provider has defaults of these for other authenticators.
  resource.lifecycle = { ignoreChanges: ["legacy_ignore_name", "provider_hostname", "provider_user_name_template"] };
  const compliance = isJsonObject(settings.value["compliance"]) ? settings.value["compliance"] : {};
  const { appInstanceId, ...written } = settings.value;
  const value = {
    ...written,
    ...(appInstanceId === undefined || appInstanceId === "" ? {} : { appInstanceId }),
    compliance: { ...compliance, fips: "REQUIRED" },
  };
  const rules = [failed.rule];
  const was = `compliance.fips was ${showValue(compliance["fips"])}`;
  change(resource.attributes, "settings", { kind: "json", value: value as JsonValue }, { rules, was });
  if (!isActive) {
    change(resource.attributes, "status", "ACTIVE", { rules, was: `was ${showValue(authenticator["status"])}` });
  }
  resource.warnings.add("Devices that are not FIPS-compliant can no longer be enrolled.");
}
