import { shorten } from "../../shared/text.ts";

/**
 * Makes text of the provider, a line since it entered (`provider_text.ts`), fit for a message: bounded, and without
 * anything that looks like a token, an assertion or a proof, which a server may echo.
 */
export function toSafeText(text: unknown, maxChars = 200): string {
  if (typeof text !== "string") return "";
  const line = text
    .replaceAll(/\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,4}/g, "[redacted]")
    .replaceAll(/\b(bearer|dpop)\s+[A-Za-z0-9._~+/-]{16,}=*/gi, "$1 [redacted]")
    .trim();
  return shorten(line, maxChars);
}

/** A path as it may be shown: cursors are long and say nothing. */
export function toShownPath(path: string): string {
  return toSafeText(path.replace(/([?&]after=)[^&]*/, "$1…"), 160);
}
