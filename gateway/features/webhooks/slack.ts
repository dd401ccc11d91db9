import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { outcomeText } from "../../../shared/outcome_text.ts";
import type { Delivery } from "../../../shared/schemas/webhook.ts";
import { toLine } from "../../../shared/text.ts";

/** A message for an incoming webhook, https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export interface SlackMessage {
  /** For notifications, and where blocks are not shown. */
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

interface SlackBlock {
  readonly type: "section";
  readonly text: SlackText;
}

/** `verbatim`: Slack makes no link and no mention out of what merely looks like one. */
interface SlackText {
  readonly type: "mrkdwn";
  readonly text: string;
  readonly verbatim: true;
}

/** Slack takes 50 blocks; a person reads fewer. */
const maxItems = 20;
/** What these become when every character has to be escaped still fits the 3,000 that Slack takes in a block. */
const maxNameLength = 80;
const maxTextLength = 200;

export function toSlackMessage(type: Delivery["type"], data: JsonObject): SlackMessage {
  const org = typeof data["org_url"] === "string" ? ` of ${shown(data["org_url"])}` : "";
  const [heading, ...lines] = describe[type](data, org);
  const blocks = [`*${heading}*`, ...lines].map((text) => ({ type: "section", text: mrkdwn(text) }) as const);
  return { text: heading, blocks, unfurl_links: false, unfurl_media: false };
}

type Lines = readonly [heading: string, ...others: string[]];

/** `org` is ` of <the org>`, or nothing where it is not known. */
const describe: Readonly<Record<Delivery["type"], (data: JsonObject, org: string) => Lines>> = {
  "scan.end": (data, org) => [`Scan ${shown(data["status"])}${org}`, outcomeText((state) => shown(data[state]))],
  "finding.created": (data, org) => [
    `New failing findings${org}: ${shown(data["count"])}`,
    ...items(data, "findings", toFindingText),
  ],
  "finding.updated": (data, org) => [
    `Changed findings${org}: ${shown(data["count"])}`,
    ...items(data, "changes", toChangeText),
  ],
  "monitor.error": (data, org) => [`Monitor${org}: ${shown(data["code"])}`, shown(data["detail"], maxTextLength)],
  "webhook.test": () => ["A test of this webhook", "Messages of scanstream arrive here."],
};

/** Not more than a message holds, and how many that leaves out. */
function items(data: JsonObject, name: string, toText: (item: JsonObject) => string): readonly string[] {
  const listed = Array.isArray(data[name]) ? data[name].filter(isJsonObject).slice(0, maxItems) : [];
  const more = Number(data["count"]) - listed.length;
  return [...listed.map(toText), ...(more > 0 ? [`And ${more} more.`] : [])];
}

function toFindingText(finding: JsonObject): string {
  return `${toResource(finding)} · ${shown(finding["check"])} · ${shown(finding["severity"])}\n${shown(finding["actual"], maxTextLength)}`;
}

function toChangeText(change: JsonObject): string {
  const verdict = (status: unknown) => (status === null ? "nothing" : shown(status));
  const by = typeof change["actor_name"] === "string" ? `\nby ${shown(change["actor_name"])}` : "";
  return `${toResource(change)} · ${shown(change["check"])}: ${verdict(change["from"])} → ${verdict(change["to"])}${by}`;
}

function toResource(item: JsonObject): string {
  return `${shown(item["resource_type"])} ${shown(item["resource_name"])}`;
}

/**
 * A value as one line of text. Escaped, because of `<https://…|text>` and `<!channel>` Slack makes links and mentions, and a
 * provider's names are anything that somebody typed there: https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
function shown(value: unknown, maxLength = maxNameLength): string {
  const line = toLine(typeof value === "string" || typeof value === "number" ? String(value) : "", maxLength);
  const escaped = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped === "" ? "–" : escaped;
}

function mrkdwn(text: string): SlackText {
  return { type: "mrkdwn", text, verbatim: true };
}
