import { isJsonObject } from "../../../shared/json.ts";
import { judgeZone } from "../../checks/network_zone_block_anonymized_proxies.ts";
import { judgeInclude, readZones } from "../../checks/evaluating/zones.ts";
import { explicitActivityOf } from "../../checks/parsing/activity.ts";
import { readTexts, showValue } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import {
  below,
  foundObject,
  freeName,
  idOf,
  importChange,
  lostFields,
  type PlannedChange,
  type Planner,
  type ResourceKind,
} from "../planned_change.ts";
import { identifier, variableReference, type Variable } from "../terraform.ts";

const zoneKind: ResourceKind = {
  type: "okta_network_zone",
  prefix: "zone",
  replaced: ["ipServiceCategories", "locations", "asns"],
  paths: {
    name: "name",
    usage: "usage",
    status: "status",
    ip_service_categories_include: "ipServiceCategories.include",
    // A zone with one of these is not switched on.
    asns: [],
    dynamic_locations: [],
    dynamic_locations_exclude: [],
    ip_service_categories_exclude: [],
  },
};

/** V-279692: the zone that blocks anonymizers is switched on; where the org has none, a new one blocks them. */
export const anonymizerZone: Planner = {
  checks: ["network_zone_block_anonymized_proxies"],
  plan(_failed, { artifacts }) {
    const zones = entriesOf(artifacts.network_zones);
    // Exceptions in a zone are a decision of a person.
    const zone = zones.find(
      (one) =>
        explicitActivityOf(one) === "inactive" &&
        judgeZone({ ...one, status: "ACTIVE" })?.kind === "blocks" &&
        lostFields(zoneKind, one).length === 0 &&
        idOf(one) !== null,
    );
    const warnings = [
      "Users of anonymizers are blocked before they can sign in, from every app; some corporate VPN clients count as anonymizers. " +
        "Search the System Log for users that this would block.",
    ];
    if (zone !== undefined) {
      return importChange(zoneKind, zone, {
        title: `Network zone "${nameOf(zone)}"`,
        required: { name: nameOf(zone), type: "DYNAMIC_V2" },
        changes: { status: { value: "ACTIVE", was: "was INACTIVE" } },
        warnings,
      });
    }
    const name = freeName("Blocked anonymizers", zones.map(nameOf));
    return {
      type: zoneKind.type,
      name: "blocked_anonymizers",
      title: `New network zone "${name}"`,
      importId: null,
      required: { name, type: "DYNAMIC_V2" },
      attributes: { usage: "BLOCKLIST", ip_service_categories_include: ["ALL_ANONYMIZERS"] },
      changes: { status: { value: "ACTIVE", was: "the org has no such zone" } },
      warnings,
    };
  },
};

const authenticatorKind: ResourceKind = {
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
    const authenticator = foundObject(artifacts.authenticators, finding);
    if (authenticator === undefined) return "the org has no Okta Verify to import";
    if (explicitActivityOf(authenticator) !== "active") {
      return "it is not active, and activating it gives users another way to sign in";
    }
    const { settings } = authenticator;
    const { appInstanceId, compliance, ...others } = isJsonObject(settings) ? settings : {};
    const ofCompliance = isJsonObject(compliance) ? compliance : {};
    const value = {
      ...(appInstanceId === undefined || appInstanceId === "" ? {} : { appInstanceId }),
      ...others,
      compliance: { ...ofCompliance, fips: "REQUIRED" },
    };
    const was = `compliance.fips was ${showValue(ofCompliance["fips"])}`;
    return importChange(authenticatorKind, authenticator, {
      title: `Authenticator "${nameOf(authenticator)}"`,
      required: { key: String(authenticator["key"]), name: nameOf(authenticator) },
      changes: { settings: { value: { kind: "json", value }, was } },
      warnings: ["Devices that are not FIPS-compliant can no longer be enrolled."],
    });
  },
};

const tokenKind: ResourceKind = {
  type: "okta_api_token",
  prefix: "token",
  replaced: ["network"],
  paths: {
    name: "name",
    user_id: "userId",
    client_name: "clientName",
    created: "created",
    network: ["network.connection", "network.include", "network.exclude"],
  },
};

/** V-279689: a token is used from the zones of its application only. */
export const apiTokens: Planner = {
  checks: ["apitoken_restricted_to_network_zone"],
  plan({ finding }, { artifacts }) {
    const token = foundObject(artifacts.api_tokens, finding);
    if (token === undefined) return "the evidence does not name the token";
    const id = String(token["id"]);
    const [included, excluded] = ["include", "exclude"].map((list) => readTexts(token, `network.${list}`));
    if (included?.kind !== "absent" && (included?.kind !== "value" || included.value.length > 0)) {
      return "the token names zones that are deleted, inactive or open, and other zones would allow new networks";
    }
    if (excluded?.kind === "unreadable") return "its excluded zones cannot be read";
    const zones = readZones(artifacts.network_zones);
    if (zones.missing !== null) return "not all network zones could be read: grant okta.networkZones.read";
    const fitting = zones.listed.filter(
      (zone) => judgeInclude({ network: { include: [String(zone["id"])] } }, "network", zones)?.kind === "zoned",
    );
    if (fitting.length === 0) return "the org has no network zone that restricts a token: add one first";
    const names = fitting.map((zone) => `"${nameOf(zone)}" is ${String(zone["id"])}`).join(", ");
    // A person names them, because a zone can as well hold the networks that are to be kept out.
    const chosen: Variable = {
      name: identifier("token_zones", id, token["name"]),
      type: "list(string)",
      description: `Where the application of the API token "${nameOf(token)}" calls from. Ids of network zones: ${names}.`,
    };
    const connection = isJsonObject(token["network"]) ? token["network"]["connection"] : undefined;
    return importChange(tokenKind, token, {
      title: `API token "${nameOf(token)}"`,
      required: { id },
      attributes: {
        ...(excluded?.kind === "value" && excluded.value.length > 0 && { "network.exclude": excluded.value }),
      },
      changes: {
        "network.connection": { value: "ZONE", was: `was ${showValue(connection)}` },
        "network.include": { value: variableReference(chosen), was: "was empty" },
      },
      variables: [chosen],
      warnings: ["Calls from other networks are refused."],
    });
  },
};

const streamKind: ResourceKind = {
  type: "okta_log_stream",
  prefix: "stream",
  replaced: ["settings"],
  paths: {
    name: "name",
    status: "status",
    settings: below("settings", "accountId eventSourceName region edition host"),
  },
};

const streamType: Variable = {
  name: "log_stream_type",
  type: "string",
  description: "Where the System Log goes: aws_eventbridge or splunk_cloud_logstreaming.",
};

/** The destination, which only a person knows; those of the other type stay null. */
const destination: Readonly<Record<string, string>> = {
  account_id: "For aws_eventbridge: the AWS account.",
  event_source_name: "For aws_eventbridge: the name of the event source.",
  region: "For aws_eventbridge: the AWS region.",
  edition: "For splunk_cloud_logstreaming: aws, aws_govcloud or gcp.",
  host: "For splunk_cloud_logstreaming: the host, such as acme.splunkcloud.com.",
  token: "For splunk_cloud_logstreaming: the HEC token. Set TF_VAR_log_stream_token, and do not write it to a file.",
};

/** V-273202: a stream that was switched off is switched on, or a new one goes where a person says. */
export const logStream: Planner = {
  checks: ["systemlog_streaming_enabled"],
  plan(_failed, { artifacts }) {
    const streams = entriesOf(artifacts.log_streams);
    const stream = streams.find((item) => item["status"] === "INACTIVE" && idOf(item) !== null);
    if (stream === undefined) return newStream(freeName("System Log", streams.map(nameOf)));
    const { type } = stream;
    if (type !== "aws_eventbridge" && type !== "splunk_cloud_logstreaming") {
      return "the provider does not know the type of the log stream";
    }
    return importChange(streamKind, stream, {
      title: `Log stream "${nameOf(stream)}"`,
      required: { name: nameOf(stream), type },
      changes: { status: { value: "ACTIVE", was: "was INACTIVE" } },
      warnings: ["It was switched off: check that its destination is still the right one."],
    });
  },
};

function newStream(name: string): PlannedChange {
  const settings = Object.entries(destination).map(([attribute, description]): readonly [string, Variable] => [
    `settings.${attribute}`,
    {
      name: `log_stream_${attribute}`,
      type: "string",
      description,
      default: null,
      ...(attribute === "token" && { isSensitive: true }),
    },
  ]);
  return {
    type: streamKind.type,
    name: "system_log",
    title: `New log stream "${name}"`,
    importId: null,
    required: { name, type: variableReference(streamType) },
    attributes: Object.fromEntries(settings.map(([attribute, variable]) => [attribute, variableReference(variable)])),
    changes: { status: { value: "ACTIVE", was: "the org has no log stream" } },
    variables: [streamType, ...settings.map(([, variable]) => variable)],
  };
}
