import type { JsonObject } from "../../shared/json.ts";
import type { Role } from "../../shared/report.ts";

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

  note(path: string, status: number, errorCode: string | null): void {
    if (status === 200) this.#hasRead = true;
    if (!path.startsWith("/api/v1/first-party-app-settings/")) return;
    if (status === 200) this.#sawFirstParty = true;
    if (status === 403 && errorCode === "E0000006") this.#wasKeptOut = true;
  }

  /** A list of all apps, or of exactly a first-party one: every organization has those, so a whole list that lacks them hides them. */
  noteList(path: string, entries: readonly JsonObject[], isWhole: boolean): void {
    if (!/^\/api\/v1\/apps(\?|$)/.test(path)) return;
    if (entries.some((app) => firstPartyApps.has(app["name"]))) this.#sawFirstParty = true;
    else if (isWhole) this.#wasKeptOut = true;
  }

  role(): Role {
    if (this.#sawFirstParty) return "super_admin";
    return this.#wasKeptOut && this.#hasRead ? "read_only_admin" : "unknown";
  }
}
