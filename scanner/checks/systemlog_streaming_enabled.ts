import { decide } from "./deciding_fields.ts";
import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type FindingDraft } from "./check.ts";
import { activityOf, unknownActivity } from "./parsing/activity.ts";
import { fail, judgeList, manual, pass, unreadable, withOneEnough } from "./evaluating/finding_drafts.ts";
import { nameOf, resourceOf } from "./parsing/names.ts";
import { entriesOf, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { citationOf, restsOn, type OrgPolicy } from "../org_policy/document.ts";

const expected = "an active log stream";

export const systemlogStreamingEnabled = defineCheck({
  name: "systemlog_streaming_enabled",
  artifacts: ["log_streams"],
  conditionalArtifacts: (_, { orgPolicy }): readonly "apps"[] => (orgPolicy?.siem === undefined ? [] : ["apps"]),
  explanation: {
    examines: "Whether at least one log stream sends the System Log to a central log server.",
    why: "Records that exist only in the org are lost with the org, and are not correlated with others.",
    disa: "Verify that a Log Stream connection is configured and active.",
    rests_on: [
      "PASS: at least one log stream with `status` ACTIVE.",
      'DISA also accepts a SIEM that is "pulling Okta logs via an Application Programming Interface (API)". The API does not show who ' +
        "reads the System Log, so an org without an active stream is MANUAL, never FAIL: interview the ISSM as DISA says, and attest the " +
        "SIEM.",
      "Not covered: whether the logs arrive and are kept.",
    ],
    fix: [
      "Open Reports > Log Streaming in the Admin Console",
      'Choose "Add Log Stream", then AWS EventBridge or Splunk Cloud',
      "Complete the fields, save, and see that the stream is Active",
    ],
    deciding_fields: [decide("log_streams", ["status"])],
  },
  evaluate({ log_streams: streams, apps }, { orgPolicy }) {
    const drafts = judgeList(streams, {
      expected,
      judgeItem: judgeStream,
      judgeEmpty: (all) => judgeSiem(apps, orgPolicy) ?? noneActive(all),
    });
    return streams.state === "missing" ? drafts : withOneEnough(drafts);
  },
});

/** Null for an inactive stream, which does not count if there is an active one. */
function judgeStream(stream: JsonObject): FindingDraft | null {
  const subject = { resource: resourceOf("log_stream", stream), expected };
  const activity = activityOf(stream);
  if (activity === "active") return pass(subject, "ACTIVE");
  return activity === "unknown" ? unreadable(subject, unknownActivity(stream)) : null;
}

/**
 * A SIEM that pulls the System Log, as the organization's document has it; null where it has none, or where the apps do not show
 * whether it is there. Grants of scopes are not read.
 */
function judgeSiem(
  apps: Evidence<JsonList> | undefined,
  policy: OrgPolicy | undefined,
): readonly FindingDraft[] | null {
  if (policy?.siem === undefined || apps === undefined) return null;
  const { client_id: clientId, method } = policy.siem;
  const citation = citationOf(policy);
  const app = entriesOf(apps).find(({ id }) => id === clientId);
  const expectation = `${method}, by the service app ${clientId}, as ${citation} says`;
  const subject = { resource: null, expected: expectation, notes: { rests_on: restsOn(policy) } };
  if (app !== undefined && activityOf(app) === "active") {
    const uncovered = `Verify that the service app "${nameOf(app)}" holds okta.logs.read and reads the System Log`;
    return [pass(subject, `no active log stream, and the service app "${nameOf(app)}", which is active`, uncovered)];
  }
  if (app !== undefined && activityOf(app) === "inactive")
    return [fail(subject, `no active log stream, and the service app "${nameOf(app)}", which is inactive`)];
  const isWhole = apps.state === "obtained" && apps.value.some(({ name }) => name === "saasure");
  return isWhole ? [fail(subject, "no active log stream, and no service app of this client id")] : null;
}

function noneActive(streams: readonly JsonObject[]): readonly FindingDraft[] {
  const note = "no log stream is active; DISA also accepts a SIEM that pulls the System Log by API";
  if (streams.length === 0) return [manual({ resource: null, expected, note }, "needs_review", "no log stream")];
  return streams.map((stream) => {
    const subject = { resource: resourceOf("log_stream", stream), expected, note };
    return manual(subject, "needs_review", `the status ${String(stream["status"])}`);
  });
}
