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
}

/** Answer that is written at a rule. */
export interface MergedAnswer extends Answer {
  /** A person's status that differs from the verdict that is written; null: none does. */
  readonly differing: ChecklistStatus | null;
}

/** Begins each line of the comments that the scanner wrote, so that the next run replaces it. */
const ownLine = "scanstream: ";

/** A rule of a checklist that nobody worked in; null: this scan did not examine it. */
export function freshAnswer(result: AutomatedAnswer | null, engine: ResultEngine): MergedAnswer {
  const empty: Answer = { status: "not_reviewed", details: "", comments: "" };
  if (result !== null) return mergeAnswer(empty, result, engine);
  return { ...empty, comments: `${ownLine}Not selected in this scan.`, differing: null };
}

/**
 * A rule that a person may have answered, with the result of this scan. Where the scan has no verdict, the person's answer
 * stays as it is; where it has one, the status is the scan's and the person's words stay next to it. Earlier results of the
 * scanner are replaced, so the same run again changes nothing.
 */
export function mergeAnswer(before: Answer, result: AutomatedAnswer | null, engine: ResultEngine): MergedAnswer {
  const { text, earlier, answered, isAnswered } = personsPart(before);
  // Without a verdict, what a person answered or began to answer gets no words of the scanner, unless it had some before.
  if (result === null || (!result.hasVerdict && earlier === null && isAnswered)) return { ...before, differing: null };
  const isKept = !result.hasVerdict && answered !== null;
  const status = isKept ? answered : result.status;
  const block = result.details === "" ? "" : formatBlock({ status, answered }, result.details, engine);
  return {
    status,
    details: joinParts([text, block]),
    comments: joinComments(before.comments, result.comments),
    differing: !isKept && answered !== null && answered !== result.status ? answered : null,
  };
}

/** Answer of a person, without what an earlier run of the scanner wrote. */
export function personsPart(before: Answer) {
  const { text, result: earlier } = splitDetails(before.details);
  const isUnchanged = earlier !== null && earlier.status === before.status;
  const status = isUnchanged ? (earlier.answered ?? "not_reviewed") : before.status;
  const answered = status === "not_reviewed" ? null : status;
  const comments = withoutOwnLines(before.comments);
  const isAnswered = answered !== null || text.trim() !== "" || comments.trim() !== "";
  return { text, earlier, status, answered, comments, isAnswered };
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
