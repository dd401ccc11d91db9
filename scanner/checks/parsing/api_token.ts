import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "./fields.ts";

/** The program that uses a token, where Okta names it, as the end of a finding's sentence. An agent gets its token at its installation. */
export function clientNote(token: JsonObject): string | undefined {
  const client = readText(token, "clientName");
  if (client.kind !== "value" || client.value === "") return undefined;
  const kind = /\bagent\b/i.test(client.value) ? "agent" : "client";
  return `a token of the ${kind} "${client.value}"`;
}
