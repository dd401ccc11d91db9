/** A response's next page. `broken`: it names one that cannot be read, so the list is not known to end. */
export type NextLink =
  | { readonly kind: "none" }
  | { readonly kind: "next"; readonly target: string }
  | { readonly kind: "broken" };

/** Finds `rel="next"` in `Link` headers (RFC 8288), however many there are and in any order their parts come. */
export function parseNextLink(header: string | null): NextLink {
  if (header === null || header.trim() === "") return { kind: "none" };
  let rest = header;
  let next: string | null = null;
  while (/[^\s,]/.test(rest)) {
    const link = /^[\s,]*<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]*))?)*)\s*(?=,|$)/.exec(
      rest,
    );
    // The rest cannot be parsed; without the word no next page is lost.
    if (link === null) return /\bnext\b/i.test(rest) || next !== null ? { kind: "broken" } : { kind: "none" };
    const [whole, target = "", parameters = ""] = link;
    if (relationsOf(parameters).includes("next")) {
      if (next !== null && next !== target) return { kind: "broken" };
      next = target;
    }
    rest = rest.slice(whole.length);
  }
  if (next === null) return { kind: "none" };
  return next.trim() === "" ? { kind: "broken" } : { kind: "next", target: next.trim() };
}

function relationsOf(parameters: string): readonly string[] {
  const found = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i.exec(parameters);
  return (found?.[1] ?? found?.[2] ?? "").toLowerCase().split(/\s+/);
}
