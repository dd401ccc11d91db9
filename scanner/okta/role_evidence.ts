import type { JsonObject } from "../../shared/json.ts";
import type { Role } from "../../shared/report.ts";

/** One response of the API. */
export interface ReadResult {
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
}

const firstPartyApps = new Set<unknown>(["saasure", "okta_enduser"]);

/**
 * Infers the role of the run from responses that were needed anyway. The provider keeps its first-party apps and
 * their settings from every role below Super Administrator, so seeing one proves that role, and being refused or shown
 * an empty list proves a lower one. That lower role is called `read_only_admin` because it is what the run could see;
 * without such a response the role stays `unknown`.
 */
export class RoleEvidence {
  #hasRead = false;
  #sawFirstParty = false;
  #wasKeptOut = false;

  note({ path, status, errorCode }: ReadResult): void {
    if (status === 200) this.#hasRead = true;
    if (!path.startsWith("/api/v1/first-party-app-settings/")) return;
    if (status === 200) this.#sawFirstParty = true;
    if (status === 403 && errorCode === "E0000006") this.#wasKeptOut = true;
  }

  /** One page of a list. */
  noteEntries(path: string, entries: readonly JsonObject[]): void {
    if (!isAppList(path)) return;
    if (entries.some((app) => firstPartyApps.has(app["name"]))) this.#sawFirstParty = true;
  }

  /** A list was read to its end. */
  noteWholeList(path: string): void {
    if (isAppList(path) && !this.#sawFirstParty && wouldHoldFirstParty(path)) this.#wasKeptOut = true;
  }

  role(): Role {
    if (this.#sawFirstParty) return "super_admin";
    return this.#wasKeptOut && this.#hasRead ? "read_only_admin" : "unknown";
  }
}

function isAppList(path: string): boolean {
  return /^\/api\/v1\/apps(\?|$)/.test(path);
}

/** Every organization has those apps, so a list of all apps, or of exactly such a one, hides them if it lacks them. */
function wouldHoldFirstParty(path: string): boolean {
  const { searchParams } = new URL(path, "https://org.invalid");
  if (searchParams.has("q")) return false;
  const filter = searchParams.get("filter");
  if (filter === null) return true;
  const name = /^\s*name\s+eq\s+"([a-z_]+)"\s*$/.exec(filter)?.[1];
  return name !== undefined && firstPartyApps.has(name);
}
