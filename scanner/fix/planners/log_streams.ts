import { readText } from "../../checks/parsing/fields.ts";
import { nameOf } from "../../checks/parsing/names.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { freeName } from "./network_zones.ts";
import { idOf, listed, type Failed, type PlanDraft } from "../plan_draft.ts";
import { change, identifier, toAttributes, type Value } from "../terraform.ts";
import { readWhole, type Source } from "../whole_objects.ts";

const check = "systemlog_streaming_enabled";
const type = "okta_log_stream";

const settingsByType: Readonly<Record<string, readonly Source[]>> = {
  aws_eventbridge: [
    ["account_id", "text", "settings.accountId"],
    ["event_source_name", "text", "settings.eventSourceName"],
    ["region", "text", "settings.region"],
  ],
  splunk_cloud_logstreaming: [
    ["edition", "text", "settings.edition"],
    ["host", "text", "settings.host"],
  ],
};

/** The destination, which only a person knows; those of the other type stay null. */
const variables: Readonly<Record<string, string>> = {
  account_id: "For aws_eventbridge: the AWS account.",
  event_source_name: "For aws_eventbridge: the name of the event source.",
  region: "For aws_eventbridge: the AWS region.",
  edition: "For splunk_cloud_logstreaming: aws, aws_govcloud or gcp.",
  host: "For splunk_cloud_logstreaming: the host, such as acme.splunkcloud.com.",
  token: "For splunk_cloud_logstreaming: the HEC token. Set TF_VAR_log_stream_token, and do not write it to a file.",
};

/** V-273202: a stream that was switched off is switched on, or a new one goes where a person says. */
export function planLogStream(draft: PlanDraft): void {
  const failed = draft.failedOf([check]);
  if (failed.length === 0) return;
  const rules = [...new Set(failed.map(({ rule }) => rule))];
  const streams = listed(draft.artifacts.log_streams);
  const [stream] = streams.filter((item) => item["status"] === "INACTIVE" && idOf(item) !== null);
  if (stream === undefined) planNewStream(draft, { failed, rules, taken: streams.map(nameOf) });
  else planStream(draft, stream, { failed, rules });
}

function planStream(
  draft: PlanDraft,
  stream: JsonObject,
  { failed, rules }: { readonly failed: readonly Failed[]; readonly rules: readonly string[] },
): void {
  const kind = readText(stream, "type");
  const sources = kind.kind === "value" ? settingsByType[kind.value] : undefined;
  if (kind.kind !== "value" || sources === undefined) {
    return draft.byHand(failed, "Terraform does not know the stream's type");
  }
  const { attributes, missing } = readWhole(stream, sources);
  if (missing.length > 0) {
    return draft.byHand(failed, `the evidence does not have ${missing.join(", ")} of the stream: collect it again`);
  }
  const resource = draft.resource(
    {
      type,
      name: identifier("stream", String(stream["id"]), stream["name"]),
      title: `Log stream "${nameOf(stream)}"`,
      importId: String(stream["id"]),
      attributes: { name: String(stream["name"]), type: kind.value },
    },
    failed,
  );
  change(resource.attributes, "status", "ACTIVE", { rules, was: "was INACTIVE" });
  resource.blocks.push({ name: "settings", attributes: toAttributes(attributes) });
  resource.warnings.add("It was switched off: check that its destination is still the right one.");
}

function planNewStream(
  draft: PlanDraft,
  {
    failed,
    rules,
    taken,
  }: { readonly failed: readonly Failed[]; readonly rules: readonly string[]; readonly taken: readonly string[] },
): void {
  const name = freeName("System Log", taken);
  const kind = draft.variable({
    name: "log_stream_type",
    type: "string",
    description: "Where the System Log goes: aws_eventbridge or splunk_cloud_logstreaming.",
  });
  const resource = draft.resource(
    {
      type,
      name: "system_log",
      title: `New log stream "${name}"`,
      importId: null,
      attributes: { name, type: kind },
    },
    failed,
  );
  change(resource.attributes, "status", "ACTIVE", { rules, was: "the org has no log stream" });
  const settings: Record<string, Value> = {};
  for (const [attribute, description] of Object.entries(variables)) {
    const variable = { name: `log_stream_${attribute}`, type: "string", default: null, description } as const;
    settings[attribute] = draft.variable({ ...variable, ...(attribute === "token" && { isSensitive: true }) });
  }
  resource.blocks.push({ name: "settings", attributes: toAttributes(settings) });
}
