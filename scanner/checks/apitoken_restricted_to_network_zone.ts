import { decide, defineCheck, zoneFields } from "./check.ts";
import { tokenZoneUse } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { entriesOf } from "../evidence/artifacts.ts";
import { clientNote } from "./parsing/api_token.ts";
import { judgeList, Subject, withPartialCoverage, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { readText, showValue, textsIn } from "./parsing/fields.ts";
import { resourceOf } from "./parsing/names.ts";
import { judgeInclude, judgeNetwork, readZones, type Zones } from "./evaluating/zones.ts";
import { compareZones, createTokenComparison, withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { ApiTokenEntry } from "../org_policy/document.ts";

const expected = "use only from known, active network zones of usage POLICY";
const uncovered = "Verify that the zone of the token is the network of the application that calls the API";

export const apitokenRestrictedToNetworkZone = defineCheck({
  name: "apitoken_restricted_to_network_zone",
  artifacts: ["api_tokens"],
  // A token that names no zone is judged without them.
  conditionalArtifacts: ({ api_tokens: tokens }): readonly "network_zones"[] =>
    entriesOf(tokens).some(namesZones) ? ["network_zones"] : [],
  decidingFields: [decide("api_tokens", ["network.connection", "network.include", "clientName"]), zoneFields],
  leftToPerson: uncovered,
  evaluate({ api_tokens: tokens, network_zones }, { orgPolicy }) {
    const zones = readZones(network_zones);
    const compare = createTokenComparison(orgPolicy, entriesOf(tokens));
    return judgeList(tokens, {
      expected,
      judgeItem: (token) =>
        withDocument(withPartialCoverage(judgeToken(token, zones), uncovered), orgPolicy, () =>
          compare(token, (entry) => compareTokenZones(entry, token, zones)),
        ),
      judgeEmpty: (org) => [org.pass("no API token")],
    });
  },
});

/** True if the verdict on a token depends on zones. */
function namesZones(token: JsonObject): boolean {
  return readText(token, "network.connection").value === "ZONE" && textsIn(token, "network.include").length > 0;
}

function compareTokenZones({ zones: allowed }: ApiTokenEntry, token: JsonObject, zones: Zones): Comparison {
  if (allowed.length === 0) return { kind: "doubtful", why: "it names no zone for the token, which the STIG asks for" };
  return compareZones({ zones_allowed: allowed }, tokenZoneUse(token, zones), zones);
}

function judgeToken(token: JsonObject, zones: Zones): FindingDraft {
  const subject = new Subject(resourceOf("api_token", token), expected, clientNote(token));
  const connection = readText(token, "network.connection");
  if (connection.kind === "absent") return subject.fail("no network restriction set");
  if (connection.kind === "unreadable") return subject.unreadable(`the network ${connection.found}`);
  if (/^(ANYWHERE|ANY_IP)$/.test(connection.value)) return subject.fail(connection.value);
  const network = judgeInclude(token, "network", zones);
  if (network === null) return subject.fail(`${connection.value} without a zone`);
  if (connection.value !== "ZONE") return subject.unreadable(`the connection ${showValue(connection.value)}`);
  const use = network.kind === "zoned" ? { ...network, actual: `use only from ${network.actual}` } : network;
  return judgeNetwork(subject, use, "");
}
