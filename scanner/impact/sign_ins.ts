import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { toLine } from "../../shared/text.ts";
import type { PageReader } from "../okta/idp_client.ts";

/** An entry of the System Log about a sign-in, as far as it can be read. Nothing of it is stored. */
export interface SignIn {
  readonly kind: "session" | "app" | "factor" | "policy";
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly userId: string | null;
  readonly login: string | null;
  readonly address: string | null;
  readonly session: string | null;
  readonly transaction: string | null;
  /** The ids of the apps or policies that it is about. */
  readonly targets: readonly string[];
  /** A factor in upper case: `FIDO_WEBAUTHN`, `SIGNED_NONCE`, … */
  readonly factor: string | null;
  /** Whether Okta takes the address for an anonymizer's. */
  readonly isProxy: boolean;
}

export interface LogRead {
  /** Entries of the log that were about sign-ins. */
  readonly entries: number;
  /** Why the log was not read to its end; null: it was. */
  readonly problem: string | null;
}

const kinds: ReadonlyMap<unknown, SignIn["kind"]> = new Map([
  ["user.session.start", "session"],
  ["user.authentication.sso", "app"],
  ["user.authentication.auth_via_mfa", "factor"],
  // It says which policy decided about the session of the same transaction.
  ["policy.evaluate_sign_on", "policy"],
]);

const pageSize = 1000;

/**
 * Reads the sign-ins of a time once, oldest first, and hands each to `visit`. Never throws for what the provider does: what
 * was read before stays counted.
 */
export async function readSignIns(
  pages: PageReader,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
  { visit, onPage }: { readonly visit: (signIn: SignIn) => void; readonly onPage: (entries: number) => void },
): Promise<LogRead> {
  const filter = [...kinds.keys()].map((type) => `eventType eq "${String(type)}"`).join(" or ");
  const query = new URLSearchParams({
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    sortOrder: "ASCENDING",
    limit: String(pageSize),
    filter,
  });
  let path: string | null = `/api/v1/logs?${query}`;
  let entries = 0;
  const known = new Set<string>();
  while (path !== null) {
    if (known.has(path)) return { entries, problem: "the log's next page is one that was read already" };
    known.add(path);
    const page = await pages.getPage({ path, scope: "logs.read" });
    if (page.state === "missing") {
      return { entries, problem: toLine(page.detail.replace(/(\/api\/v1\/logs)\?\S*/, "$1"), 300) };
    }
    for (const entry of page.value.entries) {
      const signIn = toSignIn(entry);
      if (signIn === null) continue;
      entries += 1;
      visit(signIn);
    }
    onPage(entries);
    path = page.value.next;
  }
  return { entries, problem: null };
}

/** Null for an entry about something else, one that failed, or one without a time. */
function toSignIn(entry: JsonObject): SignIn | null {
  const kind = kinds.get(entry["eventType"]);
  const atMs = Date.parse(text(entry["published"]) ?? "");
  const result = text(inside(entry, "outcome")["result"]);
  if (kind === undefined || Number.isNaN(atMs)) return null;
  if (kind !== "policy" && result !== "SUCCESS") return null;
  const actor = inside(entry, "actor");
  const targets = Array.isArray(entry["target"]) ? entry["target"].filter(isJsonObject) : [];
  const wanted = kind === "app" ? /^AppInstance$/i : kind === "policy" ? /^PolicyEntity$/i : null;
  const debug = inside(inside(entry, "debugContext"), "debugData");
  return {
    kind,
    atMs,
    userId: text(actor["id"]),
    login: text(actor["alternateId"]),
    address: text(inside(entry, "client")["ipAddress"]),
    session: text(inside(entry, "authenticationContext")["externalSessionId"]),
    transaction: text(inside(entry, "transaction")["id"]),
    targets: targets.flatMap(({ id, type }) => (wanted?.test(String(type)) === true ? (text(id) ?? []) : [])),
    factor: text(debug["factor"])?.toUpperCase() ?? null,
    isProxy: inside(entry, "securityContext")["isProxy"] === true,
  };
}

function inside(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

/** `unknown` is what Okta writes for a missing value. */
function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value !== "unknown" ? value.slice(0, 300) : null;
}
