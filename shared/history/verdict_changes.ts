import { canonicalJson } from "../canonical_json.ts";
import { toHex } from "../hex.ts";
import type { VerdictChange } from "../schemas/history.ts";

export interface ChangeSubject {
  /** The lower-case origin of the organization's address. */
  readonly org_url: string;
  readonly check: string;
}

/** SHA-256 in hex over the RFC 8785 form of the change without its digest. */
export async function digestOf(change: Omit<VerdictChange, "digest"> | VerdictChange): Promise<string> {
  const text = canonicalJson({ ...change, digest: undefined });
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/**
 * The first thing in a rule's list that does not hold, in one sentence; null: it is whole. A list may begin after number 1,
 * because old changes are deleted after a time, and then only the order after its first change can be verified.
 */
export async function chainProblem(
  changes: readonly VerdictChange[],
  { org_url: orgUrl, check }: ChangeSubject,
): Promise<string | null> {
  let last: VerdictChange | null = null;
  for (const change of changes) {
    const { number, previous, digest } = change;
    const name = `change ${number} of ${check}`;
    if (change.org_url !== orgUrl) return `${name} is of ${change.org_url}, and the history is of ${orgUrl}`;
    if (change.check !== check) return `${name} is of another rule, ${change.check}`;
    if ((number === 1) !== (previous === null))
      return `${name} ${number === 1 ? "names a change before it" : "names no change before it"}`;
    if ((await digestOf(change)) !== digest) return `${name} was edited: its digest is another one`;
    if (last !== null && number !== last.number + 1)
      return `the chain of ${check} is cut: change ${number} follows change ${last.number}`;
    if (last !== null && previous !== last.digest)
      return `the chain of ${check} is cut: change ${number} does not follow the change ${last.number} that is there`;
    last = change;
  }
  return null;
}
