import { missing, type Evidence, type JsonList, type JsonObject } from "../artifacts.ts";
import { defineCheck, type FindingDraft } from "../check.ts";
import { explicitActivityOf, isNothing } from "./reading/activity.ts";
import { fail, judgeList, manualForMissing, pass, unreadable, type Subject } from "./reading/drafts.ts";
import { readText, readTexts, readWord, shown } from "./reading/fields.ts";
import { firstTexts, textsInOrder } from "./reading/in_order.ts";
import { nameOf, resourceOf } from "./reading/names.ts";

const expected = "use only from known, active network zones of usage POLICY";

export const apitokenRestrictedToNetworkZone = defineCheck({
  name: "apitoken_restricted_to_network_zone",
  artifacts: ["api_tokens"],
  // A token that is open to anywhere is proven so without the zones.
  further: ({ api_tokens: tokens }): readonly "network_zones"[] =>
    listed(tokens).some((token) => zoneIdsOf(token) !== null) ? ["network_zones"] : [],
  explanation: {
    examines: "Whether each API token can be used only from known network zones.",
    why:
      "A token is a password without a second factor: whoever copies it is its owner. A zone makes a stolen one useless elsewhere, " +
      "but only while the zone exists, is active, and is one that policies use.",
    fix: [
      "Open Security > API > Tokens in the Admin Console and each token",
      'In the "Security" section choose Edit',
      'Set "Token can be used from" to the zone of the application that calls the API, and save',
    ],
    deciding_fields: [
      "GET /api/v1/api-tokens: network.connection, network.include",
      "GET /api/v1/zones: id, status, usage",
    ],
  },
  evaluate({ api_tokens: tokens, network_zones: zones = notAsked }) {
    const byId = new Map<unknown, JsonObject>();
    // Of two with one id the first counts.
    for (const zone of listed(zones).toReversed()) byId.set(zone["id"], zone);
    return judgeList(tokens, {
      expected,
      each: (token) => judgeToken(token, { evidence: zones, byId }),
      none: () => [pass({ resource: null, expected }, "no API token")],
    });
  },
});

const notAsked = missing<JsonList>("provider_error", "The network zones were not asked for.");

interface Zones {
  readonly evidence: Evidence<JsonList>;
  readonly byId: ReadonlyMap<unknown, JsonObject>;
}

function listed(evidence: Evidence<JsonList>): JsonList {
  return evidence.state === "obtained" ? evidence.value : (evidence.partial ?? []);
}

/** The zones that a token names; null where they cannot matter. */
function zoneIdsOf(token: JsonObject): readonly string[] | null {
  const include = readTexts(token, "network.include");
  const connection = readText(token, "network.connection");
  if (include.kind !== "value" || include.value.length === 0) return null;
  return connection.kind === "value" && connection.value === "ZONE" ? include.value : null;
}

function judgeToken(token: JsonObject, zones: Zones): FindingDraft {
  const subject: Subject = { resource: resourceOf("api_token", token), expected };
  if (isNothing(token)) return unreadable(subject, `the token ${shown(token)}`);
  const connection = readText(token, "network.connection");
  if (connection.kind === "absent") return fail(subject, "no network restriction set");
  if (connection.kind === "unreadable") return unreadable(subject, `the network ${connection.found}`);
  if (/^(ANYWHERE|ANY_IP)$/.test(connection.value)) return fail(subject, connection.value);
  const include = readTexts(token, "network.include");
  if (include.kind === "unreadable") return unreadable(subject, `the zones ${include.found}`);
  if (include.kind === "absent" || include.value.length === 0)
    return fail(subject, `${connection.value} without a zone`);
  if (connection.value !== "ZONE") return unreadable(subject, `the connection ${shown(connection.value)}`);
  return judgeZones(subject, include.value, zones);
}

function judgeZones(subject: Subject, ids: readonly string[], zones: Zones): FindingDraft {
  const sorted = textsInOrder(ids);
  const verdicts = sorted.map((id) => judgeZone(subject, id, zones));
  const worst =
    verdicts.find((draft) => draft.status === "FAIL") ?? verdicts.find((draft) => draft.status === "MANUAL");
  return worst ?? pass(subject, `use only from ${ids.length === 1 ? "zone" : "zones"} ${firstTexts(sorted)}`);
}

function judgeZone(subject: Subject, id: string, { evidence: zones, byId }: Zones): FindingDraft {
  const zone = byId.get(id);
  if (zone === undefined) {
    return zones.state === "missing" ? manualForMissing(subject, zones) : fail(subject, `the unknown zone ${id}`);
  }
  const name = `zone "${nameOf(zone)}"`;
  const activity = explicitActivityOf(zone);
  const usage = readWord(zone, "usage", ["POLICY", "BLOCKLIST"]);
  if (activity === "inactive") return fail(subject, `the inactive ${name}`);
  if (usage.kind === "value" && usage.value === "BLOCKLIST") return fail(subject, `the blocklist ${name}`);
  if (activity === "unknown") return unreadable(subject, `the status ${shown(zone["status"])} of ${name}`);
  if (usage.kind === "unreadable") return unreadable(subject, `the usage ${usage.found} of ${name}`);
  if (usage.kind === "absent") return fail(subject, `${name} with its usage not set`);
  return zones.state === "missing" ? manualForMissing(subject, zones) : pass(subject, name);
}
