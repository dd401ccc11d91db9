/** The wait that an answer asks for: seconds or an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). Null without one. */
export function parseRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const untilMs = Date.parse(value);
  if (Number.isNaN(untilMs)) return null;
  // Measured by the server's clock where it sends a date: ours may be wrong by hours.
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, untilMs - (Number.isNaN(serverNowMs) ? nowMs : serverNowMs));
}
