import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import { activityOf } from "./parsing/activity.ts";
import { fail, judgeList, pass, unreadable } from "./judging/finding_drafts.ts";
import { showValue } from "./parsing/fields.ts";
import { resourceOf } from "./parsing/names.ts";

const expected = "an active log stream";

export const systemlogStreamingEnabled = defineCheck({
  name: "systemlog_streaming_enabled",
  artifacts: ["log_streams"],
  explanation: {
    examines:
      "Whether at least one log stream sends the System Log to a central log server; a stream of unknown status beside it is only " +
      "mentioned.",
    why:
      "Records that stay in the org go with the org, and are never correlated. A SIEM that pulls the System Log over the API is as " +
      "good, but cannot be seen here: attest it.",
    fix: [
      "Open Reports > Log Streaming in the Admin Console",
      'Choose "Add Log Stream", then AWS EventBridge or Splunk Cloud',
      "Complete the fields, save, and see that the stream is Active",
    ],
    deciding_fields: ["GET /api/v1/logStreams: status"],
  },
  evaluate({ log_streams: streams }) {
    const drafts = judgeList(streams, { expected, judgeItem: judgeStream, judgeEmpty: noneActive });
    if (streams.state === "missing" || !drafts.some(({ status }) => status === "PASS")) return drafts;
    // One active stream satisfies the rule, whatever is unknown of another.
    return drafts.map((draft) => (draft.status === "MANUAL" ? { ...draft, isAdvisory: true } : draft));
  },
});

/** Null for an inactive stream, which does not count beside an active one. */
function judgeStream(stream: JsonObject): FindingDraft | null {
  const subject = { resource: resourceOf("log_stream", stream), expected };
  const activity = activityOf(stream);
  if (activity === "active") return pass(subject, "ACTIVE");
  return activity === "unknown" ? unreadable(subject, `the status ${showValue(stream["status"])}`) : null;
}

function noneActive(streams: readonly JsonObject[]): readonly FindingDraft[] {
  const note = "a SIEM that pulls the System Log over the API can be attested";
  if (streams.length === 0) return [fail({ resource: null, expected, note }, "no log stream")];
  return streams.map((stream) =>
    fail({ resource: resourceOf("log_stream", stream), expected, note }, `the status ${String(stream["status"])}`),
  );
}
