/** What an address of the page names. Everything after `?` is about what is shown there, see `finding_address.ts`. */
export type Route =
  | { readonly page: "overview" }
  | { readonly page: "organization"; readonly id: string }
  | { readonly page: "scan"; readonly id: string }
  | { readonly page: "monitor"; readonly id: string }
  | { readonly page: "decisions" }
  /** Empty: the first section. */
  | { readonly page: "settings"; readonly section: string }
  | { readonly page: "unknown" };

const onePattern = /^#\/(organization|scan|monitor)s\/([0-9a-zA-Z-]{1,64})$/;

/** A query string, which mail and chat clients append, is ignored. */
export function parseRoute(address: string): Route {
  const [hash = ""] = address.split("?");
  if (/^#?\/?$/.test(hash)) return { page: "overview" };
  if (hash === "#/decisions") return { page: "decisions" };
  const [, settings] = /^#\/settings(?:\/([a-z-]{1,64}))?$/.exec(hash) ?? [];
  if (settings !== undefined || hash === "#/settings") return { page: "settings", section: settings ?? "" };
  const [, kind, one] = onePattern.exec(hash) ?? [];
  if (one === undefined) return { page: "unknown" };
  return { page: kind as "organization" | "scan" | "monitor", id: one };
}
