import type { MonitorEvents, TenantEvents } from "scanstream/events";
import { follow } from "scanstream/subscribe";

/**
 * `node notify.ts`, with `SCANSTREAM_URL`, `SCANSTREAM_API_KEY` (scope `read`) and `SLACK_URL`, the address of an incoming webhook:
 * posts each finding of the tenant that got worse. What changes while the connection is opened again is on the page only.
 */

type FindingUpdated = MonitorEvents["finding.updated"];

const { SCANSTREAM_URL, SCANSTREAM_API_KEY = "", SLACK_URL = "" } = process.env;

for await (const event of follow<TenantEvents>(new URL("/api/v1/event-stream", SCANSTREAM_URL), {
  apiKey: SCANSTREAM_API_KEY,
})) {
  if (event.type !== "finding.updated" || !isWorse(event.data)) continue;
  const body = JSON.stringify({ text: toText(event.data) });
  const request = fetch(SLACK_URL, { method: "POST", headers: { "content-type": "application/json" }, body });
  const answer = await request.then(({ ok, status }) => ok || status).catch((error: unknown) => error);
  if (answer !== true) console.error("Slack did not take it:", answer);
}

function isWorse({ cause, from, from_reason, from_waived, to, to_reason, to_waived }: FindingUpdated): boolean {
  return cause !== "start" && badness(to, to_reason, to_waived) > badness(from, from_reason, from_waived);
}

function badness(status: FindingUpdated["to"], reason: FindingUpdated["to_reason"], isWaived: boolean): number {
  if (status === "FAIL") return isWaived ? 0 : 2;
  return status === "MANUAL" && reason !== "not_applicable" ? 1 : 0;
}

function toText({ vuln_id, cat, from, to, resource_name, actual, actors }: FindingUpdated): string {
  const who = [...new Set(actors)].filter(Boolean).join(", ") || "the log names nobody";
  const text = `${vuln_id} (${cat}): ${from ?? "new"} → ${to ?? "gone"}: ${resource_name}: ${actual ?? ""} (${who})`;
  // https://docs.slack.dev/messaging/formatting-message-text#escaping
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
