import { nameOf } from "../../checks/parsing/names.ts";
import { entriesOf } from "../../evidence/artifacts.ts";
import {
  below,
  freeName,
  idOf,
  importChange,
  type PlannedChange,
  type Planner,
  type ResourceKind,
} from "../planned_change.ts";
import { variableReference, type Variable } from "../terraform.ts";

const kind: ResourceKind = {
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
    return importChange(kind, stream, {
      title: `Log stream "${nameOf(stream)}"`,
      required: { name: nameOf(stream), type },
      changes: { status: { value: "ACTIVE", was: "was INACTIVE" } },
      warnings: ["It was switched off: check that its destination is still the right one."],
    });
  },
};

function newStream(name: string): PlannedChange {
  const settings = Object.entries(destination).map(([attribute, description]) => {
    const variable: Variable = {
      name: `log_stream_${attribute}`,
      type: "string",
      description,
      default: null,
      ...(attribute === "token" && { isSensitive: true }),
    };
    return { attribute, variable };
  });
  return {
    type: kind.type,
    name: "system_log",
    title: `New log stream "${name}"`,
    importId: null,
    required: { name, type: variableReference(streamType) },
    attributes: Object.fromEntries(
      settings.map(({ attribute, variable }) => [`settings.${attribute}`, variableReference(variable)]),
    ),
    changes: { status: { value: "ACTIVE", was: "the org has no log stream" } },
    variables: [streamType, ...settings.map(({ variable }) => variable)],
  };
}
