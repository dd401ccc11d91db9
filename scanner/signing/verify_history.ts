import * as v from "valibot";
import { parseJsonObject } from "../../shared/json.ts";
import { historySchema, type History } from "../../shared/schemas/history.ts";
import { NotProven } from "./envelope.ts";
import type { Predicate } from "./statement.ts";

/** The history that a file is; null: it is another file. */
export function historyIn(content: Uint8Array): History | null {
  const value = parseJsonObject(Buffer.from(content).toString("utf8"));
  if (value?.["schema"] !== "scanstream.history/1") return null;
  const history = v.safeParse(historySchema, value);
  return history.success ? history.output : null;
}

/** The history is of the organizations that were signed for. Throws `NotProven`. */
export function verifyHistory(name: string, history: History, predicate: Predicate): string {
  const signedFor = [predicate.org_url, ...(predicate.other_org_urls ?? [])];
  for (const { org_url: orgUrl } of history.organizations) {
    if (!signedFor.includes(orgUrl))
      throw new NotProven(`${name} is about ${orgUrl}, and the statement about ${signedFor.join(", ")}`);
  }
  return `${name}: a history of ${signedFor.join(", ")}`;
}
