import { canonicalJson } from "../canonical_json.ts";
import { toHex } from "../hex.ts";
import type { VerdictChange } from "../schemas/history.ts";
import { isSameVerdict, isUnreadable, type RuleVerdict } from "./source.ts";
import type { Segment } from "./timeline.ts";

/** A verdict change before it has its place in the chain. */
export type ChangeDraft = Omit<VerdictChange, "number" | "previous" | "digest">;

export interface ChangeSubject {
  /** The lower-case origin of the organization's address. */
  readonly org_url: string;
  readonly check: string;
}

/** What is known at the time at which a timeline begins: the last verdict, and until when a verdict was known. */
export interface KnownBefore {
  readonly verdict: RuleVerdict | null;
  readonly knownUntil: number | null;
}

/**
 * Each time at which the verdict became another one, in order. Time in which nobody looked changes nothing: the same verdict
 * after it is no change.
 */
export function changesOf(
  timeline: readonly Segment[],
  subject: ChangeSubject,
  before: KnownBefore = { verdict: null, knownUntil: null },
): readonly ChangeDraft[] {
  const drafts: ChangeDraft[] = [];
  let { verdict, knownUntil } = before;
  for (const { from, to, point } of timeline) {
    const { status, reason, cause, actor, fingerprints } = point;
    if (verdict === null || !isSameVerdict(verdict, point)) {
      const not_before = knownUntil === null ? null : new Date(knownUntil).toISOString();
      const known_at = new Date(from).toISOString();
      drafts.push({
        ...subject,
        status,
        reason,
        not_before,
        known_at,
        cause,
        actor,
        fingerprints: sorted(fingerprints),
      });
    }
    verdict = point;
    if (!isUnreadable(point)) knownUntil = to;
  }
  return drafts;
}

function sorted(fingerprints: readonly string[]): readonly string[] {
  return [...new Set(fingerprints)].sort();
}

/** The drafts that the list does not have: what a source that arrived late still has to add. */
export function unwrittenOf(
  drafts: readonly ChangeDraft[],
  written: readonly Pick<VerdictChange, "status" | "reason" | "known_at">[],
): readonly ChangeDraft[] {
  const keyOf = (change: Pick<VerdictChange, "status" | "reason" | "known_at">) =>
    [change.status, change.reason, Date.parse(change.known_at)].join(" ");
  const keys = new Set(written.map(keyOf));
  return drafts.filter((draft) => !keys.has(keyOf(draft)));
}

/** Numbers and chains the drafts behind the last change of the list; null: they begin it. */
export async function chainChanges(
  drafts: readonly ChangeDraft[],
  last: Pick<VerdictChange, "number" | "digest"> | null,
): Promise<readonly VerdictChange[]> {
  const changes: VerdictChange[] = [];
  let [number, previous] = [last?.number ?? 0, last?.digest ?? null];
  for (const draft of drafts) {
    number += 1;
    const change = { number, previous, ...draft };
    const digest = await digestOf(change);
    changes.push({ ...change, digest });
    previous = digest;
  }
  return changes;
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
