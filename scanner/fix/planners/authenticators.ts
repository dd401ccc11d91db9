import { isJsonObject } from "../../../shared/json.ts";
import { explicitActivityOf } from "../../checks/parsing/activity.ts";
import { showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import { below, idOf, importChange, type Planner, type ResourceKind } from "../planned_change.ts";
import type { JsonValue } from "../terraform.ts";

const kind: ResourceKind = {
  type: "okta_authenticator",
  prefix: "authenticator",
  replaced: ["settings"],
  paths: {
    status: "status",
    settings: below(
      "settings",
      "allowedFor appInstanceId channelBinding.required channelBinding.style compliance.fips tokenLifetimeInMinutes " +
        "userVerification enrollmentSecurityLevel userVerificationMethods",
    ),
    // The provider has defaults of these for other authenticators.
    legacy_ignore_name: [],
    provider_hostname: [],
    provider_user_name_template: [],
  },
};

/** V-273205: Okta Verify enrolls FIPS-compliant devices only. */
export const oktaVerify: Planner = {
  checks: ["authenticator_okta_verify_fips_compliant"],
  plan({ finding }, { artifacts }) {
    const authenticator = entriesOf(artifacts.authenticators).find((item) => idOf(item) === finding.resource.id);
    if (authenticator === undefined) return "the org has no Okta Verify to import";
    if (explicitActivityOf(authenticator) !== "active") {
      return "it is not active, and activating it gives users another way to sign in";
    }
    const { settings } = authenticator;
    const { appInstanceId, compliance, ...others } = isJsonObject(settings) ? settings : {};
    const value = {
      ...(appInstanceId === undefined || appInstanceId === "" ? {} : { appInstanceId }),
      ...others,
      compliance: { ...(isJsonObject(compliance) && compliance), fips: "REQUIRED" },
    };
    const fips = isJsonObject(compliance) ? compliance["fips"] : undefined;
    return importChange(kind, authenticator, {
      title: `Authenticator "${nameOf(authenticator)}"`,
      required: { key: String(authenticator["key"]), name: nameOf(authenticator) },
      // It came from JSON.
      changes: {
        settings: { value: { kind: "json", value: value as JsonValue }, was: `compliance.fips was ${showValue(fips)}` },
      },
      warnings: ["Devices that are not FIPS-compliant can no longer be enrolled."],
    });
  },
};
