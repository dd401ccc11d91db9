import type { Evidence, MissingEvidence } from "../../evidence/artifacts.ts";
import { isJsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import type { FindingResource, ManualReason } from "../../../shared/report.ts";
import { shown, type Field } from "../parsing/fields.ts";

/** What a finding is about and what it should be; null stands for the org. */
export interface Subject {
  readonly resource: FindingResource | null;
  readonly expected: string;
  readonly note?: string;
}

/** `remains`: what of the rule it leaves to a person, in one sentence. */
export function pass(subject: Subject, actual: string, remains?: string | null): FindingDraft {
  return { ...subject, status: "PASS", actual, ...(remains === undefined || remains === null ? {} : { remains }) };
}

/** A PASS with what of the rule it leaves to a person; any other verdict, and a PASS that leaves nothing, as it is. */
export function withRemains(draft: FindingDraft, pieces: readonly (string | null | undefined)[]): FindingDraft {
  const remains = pieces.filter((piece) => piece !== null && piece !== undefined).join("; ");
  return draft.status === "PASS" && remains !== "" ? { ...draft, remains } : draft;
}

export function fail(subject: Subject, actual: string): FindingDraft {
  return { ...subject, status: "FAIL", actual };
}

export function manual(subject: Subject, reason: ManualReason, actual: string): FindingDraft {
  return { ...subject, status: "MANUAL", reason, actual };
}

/** Where the evidence is missing: MANUAL with its reason, and what was asked as the end of the sentence. */
export function manualForMissing(subject: Subject, evidence: MissingEvidence): FindingDraft {
  return { ...subject, status: "MANUAL", reason: evidence.reason, actual: "no answer to judge", note: evidence.detail };
}

export function unreadable(subject: Subject, found: string): FindingDraft {
  return manual(subject, "unreadable", `what this version cannot read, ${found}`);
}

/** One setting: absent is FAIL (the org does not assert it), an unknown shape is MANUAL, a value decides. */
export function judgeField<Value>(
  subject: Subject,
  field: Field<Value>,
  judge: { readonly isCompliant: (value: Value) => boolean; readonly show: (value: Value) => string },
): FindingDraft {
  if (field.kind === "absent") return fail(subject, "not set");
  if (field.kind === "unreadable") return unreadable(subject, field.found);
  const verdict = judge.isCompliant(field.value) ? pass : fail;
  return verdict(subject, judge.show(field.value));
}

export interface ListJudge<Item> {
  /** What is expected of the org, where there is nothing to name. */
  readonly expected: string;
  /** Null for an item that the rule is not about. */
  readonly each: (item: Item) => FindingDraft | null;
  /** Where the whole list has nothing to judge. */
  readonly none: (items: readonly Item[]) => readonly FindingDraft[];
}

/** A finding for each item of a list. A list that broke off proves what FAILs in it, and nothing else. */
export function judgeList<Item>(evidence: Evidence<readonly Item[]>, judge: ListJudge<Item>): readonly FindingDraft[] {
  const each = (item: Item) =>
    isJsonObject(item) ? judge.each(item) : unreadable({ resource: null, expected: judge.expected }, shown(item));
  if (evidence.state === "obtained") {
    const drafts = evidence.value.map(each).filter((draft) => draft !== null);
    return drafts.length > 0 ? drafts : judge.none(evidence.value);
  }
  const proven = (evidence.partial ?? []).map(each).filter((draft) => draft?.status === "FAIL");
  return [
    ...proven.filter((draft) => draft !== null),
    manualForMissing({ resource: null, expected: judge.expected }, evidence),
  ];
}
