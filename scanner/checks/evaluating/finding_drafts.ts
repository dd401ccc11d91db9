import type { Evidence, MissingEvidence } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { CauseType } from "../../../shared/vocabulary.ts";
import type { FindingDraft } from "../check.ts";
import type { FindingResource, ManualReason } from "../../../shared/report.ts";
import { activityOf, unknownActivity } from "../parsing/activity.ts";
import type { Field } from "../parsing/fields.ts";
import { isUsableId } from "../parsing/names.ts";

/** The resource of a finding, null for the org, and what is expected of it. */
export interface Subject {
  readonly resource: FindingResource | null;
  readonly expected: string;
  readonly note?: string;
}

/** `uncovered`: what of the rule it leaves to a person, in one sentence. */
export function pass(subject: Subject, actual: string, uncovered?: string): FindingDraft {
  return { ...subject, status: "PASS", actual, ...(uncovered === undefined ? {} : { uncovered }) };
}

/** Adds to a PASS what of the rule it leaves to a person; leaves any other verdict unchanged. */
export function withPartialCoverage<Draft extends FindingDraft | null>(
  draft: Draft,
  sentences: readonly (string | null | undefined)[],
): Draft {
  if (draft?.status !== "PASS") return draft;
  const uncovered = [...sentences, draft.uncovered].filter((sentence) => sentence !== null && sentence !== undefined);
  return uncovered.length === 0 ? draft : { ...draft, uncovered: uncovered.join("; ") };
}

export function fail(subject: Subject, actual: string): FindingDraft {
  return { ...subject, status: "FAIL", actual };
}

/** Names an object as what makes it fail, where no other was named. */
export function withCause<Draft extends FindingDraft | null>(draft: Draft, type: CauseType, { id }: JsonObject): Draft {
  if (draft?.status !== "FAIL" || draft.cause !== undefined || !isUsableId(id)) return draft;
  return { ...draft, cause: { type, id } };
}

/** Adds to what the finding's sentence ends with. */
export function withNote(draft: FindingDraft, note: string | undefined): FindingDraft {
  if (note === undefined) return draft;
  return { ...draft, note: draft.note === undefined ? note : `${draft.note}; ${note}` };
}

export function manual(subject: Subject, reason: ManualReason, actual: string): FindingDraft {
  return { ...subject, status: "MANUAL", reason, actual };
}

/** MANUAL with the reason why the evidence is missing; its detail ends the sentence. */
export function manualForMissing(subject: Subject, evidence: MissingEvidence): FindingDraft {
  return { ...subject, status: "MANUAL", reason: evidence.reason, actual: "no answer", note: evidence.detail };
}

/** Marks the unknown elements as advisory if one good element satisfies the rule. */
export function withOneEnough(drafts: readonly FindingDraft[]): readonly FindingDraft[] {
  if (!drafts.some(({ status }) => status === "PASS")) return drafts;
  return drafts.map((draft) => (draft.status === "MANUAL" ? { ...draft, isAdvisory: true } : draft));
}

export function unreadable(subject: Subject, found: string): FindingDraft {
  return manual(subject, "unreadable", `what this version cannot read, ${found}`);
}

export const notSet = "not set";

/** One setting: absent is FAIL (the org does not assert it), an unknown shape is MANUAL, a value decides. */
export function judgeField<Value>(
  subject: Subject,
  field: Field<Value>,
  criteria: { readonly isCompliant: (value: Value) => boolean; readonly show: (value: Value) => string },
): FindingDraft {
  if (field.kind === "absent") return fail(subject, notSet);
  if (field.kind === "unreadable") return unreadable(subject, field.found);
  const verdict = criteria.isCompliant(field.value) ? pass : fail;
  return verdict(subject, criteria.show(field.value));
}

/** The verdict on an object that is active: null for one that is not, and unreadable where its status is unknown. */
export function ifActive(subject: Subject, object: JsonObject, judge: () => FindingDraft | null): FindingDraft | null {
  const activity = activityOf(object);
  if (activity === "inactive") return null;
  return activity === "unknown" ? unreadable(subject, unknownActivity(object)) : judge();
}

export interface ListCriteria<Item> {
  /** Expectation for findings about the org, which name no item. */
  readonly expected: string;
  /** Null for an item that the rule does not apply to. */
  readonly judgeItem: (item: Item) => FindingDraft | null;
  /** The findings of a complete list without any item that the rule applies to. */
  readonly judgeEmpty: (items: readonly Item[]) => readonly FindingDraft[];
}

/** A finding for each item of a list. A list that broke off proves what FAILs in it, and nothing else. */
export function judgeList<Item>(
  evidence: Evidence<readonly Item[]>,
  { expected, judgeItem, judgeEmpty }: ListCriteria<Item>,
): readonly FindingDraft[] {
  const org: Subject = { resource: null, expected };
  if (evidence.state === "obtained") {
    const drafts = evidence.value.map(judgeItem).filter((draft) => draft !== null);
    return drafts.length > 0 ? drafts : judgeEmpty(evidence.value);
  }
  const drafts = (evidence.partial ?? []).map(judgeItem).filter((draft) => draft !== null);
  return [...drafts.filter(({ status }) => status === "FAIL"), manualForMissing(org, evidence)];
}
