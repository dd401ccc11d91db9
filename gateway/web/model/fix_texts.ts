/** DISA's own texts by check, as JSON, written into the bundle by `build.ts`: as an object esbuild puts them into the first script. */
declare const FIX_TEXTS: string;

const texts = JSON.parse(FIX_TEXTS) as Readonly<Record<string, string>>;

export function fixText(check: string): string | null {
  return Object.hasOwn(texts, check) ? (texts[check] ?? null) : null;
}
