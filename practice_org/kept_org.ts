import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isJsonObject } from "../shared/json.ts";
import type { OrgContents } from "./contents/org_contents.ts";
import type { LogEntry } from "./log/system_log.ts";

/** Everything with which an org goes on that is started again: a real one forgets neither a change nor who made it. */
export interface KeptOrg {
  /** Digest of the contents with which it began. Another profile, address or version is another org. */
  readonly origin: string;
  readonly contents: OrgContents;
  readonly entries: readonly LogEntry[];
  readonly cursorSecret: string;
}

const maxEntries = 2_000;

export function originOf(contents: OrgContents): string {
  return createHash("sha256").update(JSON.stringify(contents)).digest("base64url");
}

/** Null where the file has no org of this origin. */
export function readKept(file: string, origin: string): KeptOrg | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isJsonObject(kept) && kept["origin"] === origin ? (kept as unknown as KeptOrg) : null;
  } catch {
    return null;
  }
}

/** Replaces the file whole before the change is answered: the process may be killed at any instant. */
export function writeKept(file: string, kept: KeptOrg): void {
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify({ ...kept, entries: kept.entries.slice(-maxEntries) }), { mode: 0o600 });
  renameSync(draft, file);
}
