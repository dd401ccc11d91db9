import type { Role } from "../../shared/report.ts";
import { isJsonObject } from "./json_answer.ts";

/** What is asked of every answer of a read. */
export interface ReadSighting {
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  /** The parsed body of a 200. */
  readonly json?: unknown;
}

const firstPartyApps = new Set(["saasure", "okta_enduser"]);

/**
 * Tells from answers that were needed anyway what kind of role the run had. The provider keeps its first-party apps and
 * their settings from every role below Super Administrator, so seeing one proves that role, and being refused or shown
 * an empty answer proves a lower one. That lower role is called `read_only_admin` because it is what the run could see;
 * without such an answer the role stays `unknown`.
 */
export class RoleEvidence {
  #hasRead = false;
  #sawFirstParty = false;
  #wasKeptOut = false;

  note({ path, status, errorCode, json }: ReadSighting): void {
    if (status === 200) this.#hasRead = true;
    if (path.startsWith("/api/v1/first-party-app-settings/")) {
      if (status === 200) this.#sawFirstParty = true;
      if (status === 403 && errorCode === "E0000006") this.#wasKeptOut = true;
      return;
    }
    if (status !== 200 || !/^\/api\/v1\/apps(\?|$)/.test(path) || !Array.isArray(json)) return;
    if (json.some((app) => isJsonObject(app) && firstPartyApps.has(String(app["name"])))) this.#sawFirstParty = true;
    else if (json.length === 0 && asksForFirstParty(path)) this.#wasKeptOut = true;
  }

  role(): Role {
    if (this.#sawFirstParty) return "super_admin";
    return this.#wasKeptOut && this.#hasRead ? "read_only_admin" : "unknown";
  }
}

/** `filter=name eq "saasure"`: an organization has that app, so an empty answer hides it. */
function asksForFirstParty(path: string): boolean {
  const filter = new URL(path, "https://org.invalid").searchParams.get("filter") ?? "";
  const name = /^\s*name\s+eq\s+"([a-z_]+)"\s*$/.exec(filter)?.[1];
  return name !== undefined && firstPartyApps.has(name);
}
