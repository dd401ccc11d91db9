import { parseJsonObject } from "./json.ts";

/** The `detail` of a problem document (https://www.rfc-editor.org/rfc/rfc9457); null for any other text. */
export function problemDetail(text: string): string | null {
  const detail = parseJsonObject(text)?.["detail"];
  return typeof detail === "string" ? detail : null;
}
