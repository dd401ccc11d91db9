import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "./fields.ts";

/** The program that uses a token, where Okta names it, as the end of a finding's sentence. An agent gets its token at its installation. */
export function clientNote(token: JsonObject): { readonly note?: string } {
  const client = readText(token, "clientName");
  if (client.kind !== "value" || client.value === "") return {};
  const kind = /\bagent\b/i.test(client.value) ? "agent" : "client";
  return { note: `a token of the ${kind} "${client.value}"` };
}
