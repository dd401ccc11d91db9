import type { Evidence, JsonList, MissingEvidence } from "../../evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import type { FindingNotes } from "../../../shared/schemas/finding_notes.ts";
import type { CauseType } from "../../../shared/schemas/report.ts";
import type { FindingResource, ManualReason } from "../../../shared/report.ts";
import { activityOf, unknownActivity } from "../parsing/activity.ts";
import type { Field } from "../parsing/fields.ts";
import { isUsableId, listNames } from "../parsing/names.ts";

/** An object of the org, by what kind of thing it is and its id. */
export interface CauseObject {
  readonly type: CauseType;
  readonly id: string;
}

/** A finding without its fingerprint. A null resource means the org. */
export type FindingDraft = {
  readonly resource: FindingResource | null;
  readonly expected: string;
  readonly actual: string;
  /** An addition at the end of the finding's sentence. */
  readonly note?: string;
  /** Smallest object whose change makes this finding pass, if it is not the resource. */
  readonly cause?: CauseObject;
  readonly notes?: FindingNotes;
} & (
  | {
      readonly status: "PASS";
      /** The part of the rule that it leaves to a person, in one sentence: then the finding is MANUAL, `partly_automated`. */
      readonly uncovered?: string;
    }
  | { readonly status: "FAIL" }
  | {
      readonly status: "MANUAL";
      readonly reason: ManualReason;
      /** Shown next to the verdict of the check, without changing it. */
      readonly isAdvisory?: true;
    }
);

export const notSet = "not set";

/** The resource of a finding, null for the org, with what is expected of it; its methods are the verdicts on it. */
export class Subject {
  readonly about: Pick<FindingDraft, "resource" | "expected" | "note">;

  constructor(resource: FindingResource | null, expected: string, note?: string) {
    this.about = { resource, expected, ...(note !== undefined && { note }) };
  }

  /** Returns the same subject with this note at the end of the finding's sentence. */
  noting(note: string): Subject {
    return new Subject(this.about.resource, this.about.expected, note);
  }

  /** `uncovered`: the part of the rule that it leaves to a person, in one sentence. */
  pass(actual: string, uncovered?: string): FindingDraft {
    return { ...this.about, status: "PASS", actual, ...(uncovered === undefined ? {} : { uncovered }) };
  }

  fail(actual: string): FindingDraft {
    return { ...this.about, status: "FAIL", actual };
  }

  manual(reason: ManualReason, actual: string): FindingDraft {
    return { ...this.about, status: "MANUAL", reason, actual };
  }

  unreadable(found: string): FindingDraft {
    return this.manual("unreadable", `what this version cannot read, ${found}`);
  }

  /** MANUAL with the reason why the evidence is missing; its detail ends the sentence. */
  missing({ reason, detail }: MissingEvidence): FindingDraft {
    return { ...this.manual(reason, "no answer"), note: detail };
  }

  /** One setting: absent is FAIL (the org does not assert it), an unknown shape is MANUAL, a value decides. */
  judgeField<Value>(
    field: Field<Value>,
    criteria: { readonly isCompliant: (value: Value) => boolean; readonly show: (value: Value) => string },
  ): FindingDraft {
    if (field.kind === "absent") return this.fail(notSet);
    if (field.kind === "unreadable") return this.unreadable(field.found);
    const actual = criteria.show(field.value);
    return criteria.isCompliant(field.value) ? this.pass(actual) : this.fail(actual);
  }

  /** The verdict on an object that is active: null for one that is not, and unreadable where its status is unknown. */
  ifActive(object: JsonObject, judge: () => FindingDraft | null): FindingDraft | null {
    const activity = activityOf(object);
    if (activity === "inactive") return null;
    return activity === "unknown" ? this.unreadable(unknownActivity(object)) : judge();
  }
}

/** Adds to a PASS the part of the rule that it leaves to a person; leaves any other verdict unchanged. */
export function withPartialCoverage<Draft extends FindingDraft | null>(
  draft: Draft,
  sentence: string | null | undefined,
): Draft {
  if (draft?.status !== "PASS" || sentence === null || sentence === undefined) return draft;
  return { ...draft, uncovered: draft.uncovered === undefined ? sentence : `${sentence}; ${draft.uncovered}` };
}

/** Names an object as what makes it fail, where no other was named. */
export function withCause<Draft extends FindingDraft | null>(draft: Draft, type: CauseType, { id }: JsonObject): Draft {
  if (draft?.status !== "FAIL" || draft.cause !== undefined || !isUsableId(id)) return draft;
  return { ...draft, cause: { type, id } };
}

/** Adds to the end of the finding's sentence. */
export function withNote(draft: FindingDraft, note: string | undefined): FindingDraft {
  if (note === undefined) return draft;
  return { ...draft, note: draft.note === undefined ? note : `${draft.note}; ${note}` };
}

/** Names objects at the end of each finding's sentence, as `left out: "A", "B"`. */
export function withNames(drafts: readonly FindingDraft[], why: string, objects: JsonList): readonly FindingDraft[] {
  if (objects.length === 0) return drafts;
  const note = `${why}: ${listNames(objects)}`;
  return drafts.map((draft) => withNote(draft, note));
}

/** Marks the unknown elements as advisory if one good element satisfies the rule. */
export function withOneEnough(drafts: readonly FindingDraft[]): readonly FindingDraft[] {
  if (!drafts.some(({ status }) => status === "PASS")) return drafts;
  return drafts.map((draft) => (draft.status === "MANUAL" ? { ...draft, isAdvisory: true } : draft));
}

/** The first FAIL. Without one, the first MANUAL; without that, the first of all. Undefined for an empty list. */
export function worstOf(drafts: readonly FindingDraft[]): FindingDraft | undefined {
  const first = (wanted: FindingDraft["status"]) => drafts.find(({ status }) => status === wanted);
  return first("FAIL") ?? first("MANUAL") ?? drafts[0];
}

export interface ListCriteria<Item> {
  /** Expectation for findings about the org, which name no item. */
  readonly expected: string;
  /** Null for an item that the rule does not apply to. */
  readonly judgeItem: (item: Item) => FindingDraft | null;
  /** The findings of a complete list without any item that the rule applies to. */
  readonly judgeEmpty: (org: Subject, items: readonly Item[]) => readonly FindingDraft[];
}

/** A finding for each item of a list. A list that broke off proves what FAILs in it, and nothing else. */
export function judgeList<Item>(
  evidence: Evidence<readonly Item[]>,
  { expected, judgeItem, judgeEmpty }: ListCriteria<Item>,
): readonly FindingDraft[] {
  const org = new Subject(null, expected);
  const items = evidence.state === "obtained" ? evidence.value : (evidence.partial ?? []);
  const drafts = items.map(judgeItem).filter((draft) => draft !== null);
  if (evidence.state === "missing") return [...drafts.filter(({ status }) => status === "FAIL"), org.missing(evidence)];
  return drafts.length > 0 ? drafts : judgeEmpty(org, items);
}
