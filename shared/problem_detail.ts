import { isJsonObject } from "./json.ts";

/** The `detail` of a problem document (https://www.rfc-editor.org/rfc/rfc9457); null for any other text. */
export function problemDetail(text: string): string | null {
  try {
    const problem: unknown = JSON.parse(text);
    return isJsonObject(problem) && typeof problem["detail"] === "string" ? problem["detail"] : null;
  } catch {
    return null;
  }
}
