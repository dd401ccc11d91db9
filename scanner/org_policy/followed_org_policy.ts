import type { NamedFile } from "../../command_line/files.ts";
import { followFile } from "../decisions/followed_file.ts";
import { sha256 } from "../digest.ts";
import { citationOf, ownValues, type OrgPolicy } from "./document.ts";
import { readOrgPolicy, type Expected } from "./read_org_policy.ts";

/** The organization's document while an org is followed: another version of it is seen, and so is its end. */
export interface FollowedOrgPolicy {
  readonly current: () => OrgPolicy | null;
  readonly refresh: () => Promise<unknown>;
}

export async function followOrgPolicy(
  source: NamedFile | null,
  expected: Expected,
  say: (text: string) => void,
): Promise<FollowedOrgPolicy> {
  return followFile(
    source,
    () => readOrgPolicy(source, expected),
    (problem) => say(`${problem}. The document that was read before stays in force`),
  );
}

/** The document that decides at present: it begins and ends on a day, and another version may take its place. */
export class DecidingOrgPolicy {
  /** Digest of the document by which the results are; null: there is none. */
  digest: string | null;
  readonly #followed: FollowedOrgPolicy;
  readonly #say: (text: string) => void;

  constructor(followed: FollowedOrgPolicy, digest: string | null, say: (text: string) => void) {
    this.#followed = followed;
    this.digest = digest;
    this.#say = say;
  }

  /** True when another document decides than at the call before, after a message. */
  isOther(nowMs: number): boolean {
    const policy = this.#followed.current();
    const { orgPolicy } = ownValues(policy, new Date(nowMs).toISOString());
    const now = orgPolicy === undefined ? null : sha256(JSON.stringify(orgPolicy));
    if (now === this.digest) return false;
    this.digest = now;
    this.#say(orgPolicy === undefined ? noneText(policy) : `${citationOf(orgPolicy)} decides from now on`);
    return true;
  }
}

function noneText(policy: OrgPolicy | null): string {
  const none = "No document of the organization decides any more";
  if (policy === null) return none;
  return `${none}: ${citationOf(policy)} is in force from ${policy.approved_on} to ${policy.expires}`;
}
