import { toShownPath } from "./provider_text.ts";

/** More pages than any list of the provider has. */
const maxPages = 1000;

/** The path of the page after `page`, which stays on the organization's origin; or why it is unknown. `read`: the pages of the list so far. */
export function nextPage(header: string | null, page: URL, read: ReadonlySet<string> = new Set()) {
  const unknown = (problem: string | null) => ({ path: null, problem });
  const [target, another] = nextTargets(header ?? "");
  if (target === undefined) return unknown(null);
  const url = target === "" || another !== undefined ? null : URL.parse(target, page);
  // Below another base a path that begins like this is a host.
  if (url === null || url.pathname.startsWith("//")) return unknown("its next link cannot be read");
  if (url.origin !== page.origin || url.username !== "" || url.password !== "") {
    const where = url.origin === "null" ? "elsewhere" : `to ${url.origin}`;
    return unknown(`its next link leads ${where}, away from the organization, and is not followed`);
  }
  const path = url.pathname + url.search;
  if (!isSameList(url, page))
    return unknown(`its next link leads to another list, ${toShownPath(path)}, and is not followed`);
  if (read.has(path)) return unknown("its next link repeats a page that was already read");
  return read.size < maxPages ? { path, problem: null } : unknown(`its pages do not end after ${maxPages}`);
}

/** True when one link continues the other's list: at the same path, and with no other of what selects the entries. */
function isSameList(next: URL, list: URL): boolean {
  const selects = ["type", "filter", "search", "q"];
  return (
    next.pathname === list.pathname &&
    selects.every((name) => !next.searchParams.has(name) || next.searchParams.get(name) === list.searchParams.get(name))
  );
}

/** Targets of `rel="next"` in `Link` headers (RFC 8288), however many there are; `""` for one that cannot be read. */
function nextTargets(header: string): readonly string[] {
  const links = header.split(/,(?=\s*<)/).filter((link) => /;\s*rel\s*=\s*("[^"]*\bnext\b|next\b)/i.test(link));
  const targets = new Set(links.map((link) => /^\s*<\s*([^>\s]+)\s*>/.exec(link)?.[1] ?? ""));
  // Elsewhere the word may be a next page that would be lost.
  if (targets.size === 0 && /\bnext\b/i.test(header.replaceAll(/<[^>]*>/g, ""))) targets.add("");
  return [...targets];
}
