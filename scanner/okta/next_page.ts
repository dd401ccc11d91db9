import { toShownPath } from "./safe_text.ts";

/** The path of the page after `page`, which stays on the organization's origin; or why it is unknown. */
export function nextPage(
  header: string | null,
  page: URL,
): { readonly path: string | null; readonly problem: string | null } {
  const link = parseNextLink(header);
  if (link.kind === "none") return { path: null, problem: null };
  const unreadable = { path: null, problem: "its next link cannot be read" };
  if (link.kind === "broken" || !URL.canParse(link.target, page)) return unreadable;
  const url = new URL(link.target, page);
  // Below another base such a path is a host.
  if (url.pathname.startsWith("//")) return unreadable;
  if (url.origin === page.origin && url.username === "" && url.password === "") {
    if (isSameList(url, page)) return { path: url.pathname + url.search, problem: null };
    const shown = toShownPath(url.pathname + url.search);
    return { path: null, problem: `its next link leads to another list, ${shown}, and is not followed` };
  }
  const where = url.origin === "null" ? "elsewhere" : `to ${url.origin}`;
  return { path: null, problem: `its next link leads ${where}, away from the organization, and is not followed` };
}

/** True when one link continues the other's list: at the same path, and with no other of what selects the entries. */
function isSameList(next: URL, list: URL): boolean {
  const selects = ["type", "filter", "search", "q"];
  return (
    next.pathname === list.pathname &&
    selects.every((name) => !next.searchParams.has(name) || next.searchParams.get(name) === list.searchParams.get(name))
  );
}

/** Key that tells a page of a list from the others. */
export function cursorOf(path: string): string {
  const { pathname, searchParams } = new URL(path, "https://org.invalid");
  const after = searchParams.get("after");
  searchParams.sort();
  return after === null ? `${pathname}?${searchParams}` : `${pathname} after ${after}`;
}

/** A response's next page. `broken`: it names one that cannot be read, so the list is not known to end. */
type NextLink =
  | { readonly kind: "none" }
  | { readonly kind: "next"; readonly target: string }
  | { readonly kind: "broken" };

/** Finds `rel="next"` in `Link` headers (RFC 8288), however many there are and in any order their parts come. */
function parseNextLink(header: string | null): NextLink {
  if (header === null) return { kind: "none" };
  const links = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
  const targets = new Set(
    [...header.matchAll(links)].flatMap(([, target = "", parameters = ""]) =>
      relationsOf(parameters).includes("next") ? [target.trim()] : [],
    ),
  );
  // Outside of what can be parsed the word may be a next page that would be lost.
  if (targets.size > 1 || targets.has("") || /\bnext\b/i.test(header.replaceAll(links, ""))) return { kind: "broken" };
  const [target] = targets;
  return target === undefined ? { kind: "none" } : { kind: "next", target };
}

function relationsOf(parameters: string): readonly string[] {
  const found = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i.exec(parameters);
  return (found?.[1] ?? found?.[2] ?? "").toLowerCase().split(/\s+/);
}
