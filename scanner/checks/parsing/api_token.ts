import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "./fields.ts";

/** The program that uses a token, where Okta names it, as the end of a finding's sentence. An agent gets its token at its installation. */
export function clientNote(token: JsonObject): string | undefined {
  const { value: client } = readText(token, "clientName");
  if (client === null || client === "") return undefined;
  return `a token of the ${/\bagent\b/i.test(client) ? "agent" : "client"} "${client}"`;
}
