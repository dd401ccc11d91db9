import { decide, defineCheck } from "./check.ts";
import type { JsonObject } from "../../shared/json.ts";
import { activityOf, explicitActivityOf, statusText } from "./parsing/activity.ts";
import { readText } from "./parsing/fields.ts";
import { judgeList, Subject, withOneEnough, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { nameOf, resourceOf } from "./parsing/names.ts";
import { entriesOf, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { areAllAppsSeen } from "./parsing/whole_list.ts";
import { citationOf, restsOn, type OrgPolicy } from "../org_policy/document.ts";

const expected = "an active log stream";

export const systemlogStreamingEnabled = defineCheck({
  name: "systemlog_streaming_enabled",
  artifacts: ["log_streams"],
  conditionalArtifacts: (_, { orgPolicy }): readonly "apps"[] => (orgPolicy?.siem === undefined ? [] : ["apps"]),
  decidingFields: [
    decide("log_streams", ["status"]),
    decide(
      "apps",
      ["status", "settings.oauthClient.application_type", "credentials.oauthClient.client_id"],
      "with `siem` in the document",
    ),
  ],
  evaluate({ log_streams: streams, apps }, { orgPolicy }) {
    const drafts = judgeList(streams, {
      expected,
      // An inactive stream does not count if there is an active one.
      judgeItem(stream) {
        const subject = new Subject(resourceOf("log_stream", stream), expected);
        const isActive = explicitActivityOf(stream) === "active";
        return isActive ? subject.pass("ACTIVE") : subject.ifActive(stream, () => null);
      },
      judgeEmpty: (org, all) => judgeSiem(apps, orgPolicy) ?? noneActive(org, all),
    });
    return withOneEnough(drafts);
  },
});

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
  const org = new Subject(null, `${method}, by the service app ${clientId}, as ${citationOf(policy)} says`);
  const judged = judgeServiceApp(org, apps, clientId);
  return judged === null ? null : [{ ...judged, notes: { rests_on: restsOn(policy) } }];
}

function judgeServiceApp(org: Subject, apps: Evidence<JsonList>, clientId: string): FindingDraft | null {
  const app = entriesOf(apps).find((one) => clientIdOf(one) === clientId);
  if (app === undefined)
    return areAllAppsSeen(apps) ? org.fail("no active log stream, and no service app of this client id") : null;
  const type = readText(app, "settings.oauthClient.application_type");
  if (type.kind === "unreadable") return null;
  if (type.value !== "service")
    return org.manual("needs_review", `no active log stream, and the app "${nameOf(app)}", which is no service app`);
  const found = `no active log stream, and the service app "${nameOf(app)}", which is`;
  const uncovered = `Verify that the service app "${nameOf(app)}" holds okta.logs.read and reads the System Log`;
  if (activityOf(app) === "active") return org.pass(`${found} active`, uncovered);
  return activityOf(app) === "inactive" ? org.fail(`${found} inactive`) : null;
}

/** Okta uses the id of the app, unless the app was made with another client id. */
export function clientIdOf(app: JsonObject): string {
  return readText(app, "credentials.oauthClient.client_id").value ?? String(app["id"]);
}

function noneActive(org: Subject, streams: JsonList): readonly FindingDraft[] {
  const note = "no log stream is active; DISA also accepts a SIEM that pulls the System Log by API";
  if (streams.length === 0) return [org.noting(note).manual("needs_review", "no log stream")];
  return streams.map((stream) => {
    const subject = new Subject(resourceOf("log_stream", stream), expected, note);
    return subject.manual("needs_review", statusText(stream));
  });
}
