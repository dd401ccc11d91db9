import { toShownPath } from "./safe_text.ts";

/** The path of the page after `page`, which stays on the organization's origin; or why it is unknown. */
export function nextPage(
  header: string | null,
  page: URL,
): { readonly path: string | null; readonly problem: string | null } {
  const [target, another] = nextTargets(header ?? "");
  if (target === undefined) return { path: null, problem: null };
  const unreadable = { path: null, problem: "its next link cannot be read" };
  if (target === "" || another !== undefined || !URL.canParse(target, page)) return unreadable;
  const url = new URL(target, page);
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

/** More pages than any list of the provider has. */
const maxPages = 1000;

/** The pages of one list, each of which is read once. */
export class PageChain {
  readonly #orgUrl: string;
  readonly #cursors = new Set<string>();

  constructor(orgUrl: string) {
    this.#orgUrl = orgUrl;
  }

  /** The page after the one at `path`, as `nextPage`; or why the chain has no end. */
  next(header: string | null, path: string): ReturnType<typeof nextPage> {
    const next = nextPage(header, new URL(path, this.#orgUrl));
    this.#cursors.add(cursorOf(path));
    if (next.path === null) return next;
    if (this.#cursors.has(cursorOf(next.path)))
      return { path: null, problem: "its next link repeats a page that was already read" };
    return this.#cursors.size < maxPages ? next : { path: null, problem: `its pages do not end after ${maxPages}` };
  }
}

/** Key that tells a page of a list from the others. */
function cursorOf(path: string): string {
  const { pathname, searchParams } = new URL(path, "https://org.invalid");
  const after = searchParams.get("after");
  searchParams.sort();
  return after === null ? `${pathname}?${searchParams}` : `${pathname} after ${after}`;
}

/** Targets of `rel="next"` in `Link` headers (RFC 8288), however many there are; `""` for one that cannot be read. */
function nextTargets(header: string): readonly string[] {
  const links = header.split(/,(?=\s*<)/).filter((link) => /;\s*rel\s*=\s*("[^"]*\bnext\b|next\b)/i.test(link));
  const targets = new Set(links.map((link) => /^\s*<\s*([^>\s]+)\s*>/.exec(link)?.[1] ?? ""));
  // Elsewhere the word may be a next page that would be lost.
  if (targets.size === 0 && /\bnext\b/i.test(header.replaceAll(/<[^>]*>/g, ""))) targets.add("");
  return [...targets];
}
