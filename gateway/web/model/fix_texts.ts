/** DISA's own texts by check, written into the bundle by `build.ts`; the first view of the page does without them. */
declare const FIX_TEXTS: Readonly<Record<string, string>>;

export function fixText(check: string): string | null {
  return Object.hasOwn(FIX_TEXTS, check) ? (FIX_TEXTS[check] ?? null) : null;
}
