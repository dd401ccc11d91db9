import { formatBlock, joinParts, splitDetails, type ResultEngine } from "./result_block.ts";
import type { ChecklistStatus } from "./status.ts";

/** Answer at one rule of a checklist. */
export interface Answer {
  readonly status: ChecklistStatus;
  readonly details: string;
  readonly comments: string;
}

/** Answer of this scan to one rule. */
export interface AutomatedAnswer extends Answer {
  /** False: it is for a person to answer. */
  readonly hasVerdict: boolean;
  /** Name of the person who attested the verdict; null: nobody had to. */
  readonly attestedBy: string | null;
}

/** Answer that is written at a rule. */
export interface MergedAnswer extends Answer {
  /** The status that the scanner by itself gives. */
  readonly automated: ChecklistStatus;
  /** The person or the file whose status it is; null: it is the scanner's. */
  readonly answeredBy: string | null;
  /** A person's status that differs from the verdict that is written; null: none does. */
  readonly differing: ChecklistStatus | null;
}

/** By V-id. */
export type MergedAnswers = ReadonlyMap<string, MergedAnswer>;

/** Begins each line of the comments that the scanner wrote, so that the next run replaces it. */
const ownLine = "scanstream: ";

/** Sources of the answer before and of the result. */
export interface MergeSources {
  readonly engine: ResultEngine;
  /** The checklist's name, as the author of what people answered in it. */
  readonly checklist: string;
}

/** A rule of a checklist that nobody worked in; null: this scan did not examine it. */
export function freshAnswer(result: AutomatedAnswer | null, engine: ResultEngine): MergedAnswer {
  const empty: Answer = { status: "not_reviewed", details: "", comments: "" };
  if (result !== null) return mergeAnswer(empty, result, { engine, checklist: "" });
  return {
    ...empty,
    comments: `${ownLine}Not selected in this scan.`,
    automated: "not_reviewed",
    answeredBy: null,
    differing: null,
  };
}

/**
 * A rule that a person may have answered, with the result of this scan. Where the scan has no verdict, the person's answer
 * stays as it is; where it has one, the status is the scan's and the person's words stay next to it. Earlier results of the
 * scanner are replaced, so the same run again changes nothing.
 */
export function mergeAnswer(
  before: Answer,
  result: AutomatedAnswer | null,
  { engine, checklist }: MergeSources,
): MergedAnswer {
  const { text, earlier, answered, status, comments } = personsPart(before);
  const isKept = result?.hasVerdict !== true && answered !== null;
  const hasOwnWords = text.trim() !== "" || comments.trim() !== "";
  // Without a verdict, what a person answered or began to answer gets no words of the scanner, unless it had some before.
  if (result === null || (!result.hasVerdict && earlier === null && (answered !== null || hasOwnWords))) {
    const automated = result?.status ?? "not_reviewed";
    return { ...before, automated, answeredBy: isKept && status === before.status ? checklist : null, differing: null };
  }
  const written = isKept ? answered : result.status;
  const block = result.details === "" ? "" : formatBlock({ status: written, answered }, result.details, engine);
  return {
    status: written,
    details: joinParts([text, block]),
    comments: joinComments(before.comments, result.comments),
    automated: isKept || result.attestedBy === null ? result.status : "not_reviewed",
    answeredBy: isKept ? checklist : result.attestedBy,
    differing: !isKept && answered !== null && answered !== result.status ? answered : null,
  };
}

/** Answer of a person, without what an earlier run of the scanner wrote. */
export function personsPart(before: Answer) {
  const { text, result: earlier } = splitDetails(before.details);
  const isUnchanged = earlier !== null && earlier.status === before.status;
  const status = isUnchanged ? (earlier.answered ?? "not_reviewed") : before.status;
  const answered = status === "not_reviewed" ? null : status;
  return { text, earlier, status, answered, comments: withoutOwnLines(before.comments) };
}

function joinComments(before: string, own: string): string {
  const lines = own === "" ? [] : own.split("\n").map((line) => `${ownLine}${line}`);
  const kept = withoutOwnLines(before);
  return lines.length === 0 ? kept : [...(kept === "" ? [] : [kept]), ...lines].join("\n");
}

/** As it was when none exists. */
function withoutOwnLines(comments: string): string {
  if (!comments.includes(ownLine)) return comments;
  return comments
    .split(/\r\n?|\n/)
    .filter((line) => !line.startsWith(ownLine))
    .join("\n");
}
