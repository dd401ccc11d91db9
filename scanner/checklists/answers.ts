import { formatBlock, joinParts, splitDetails, type BlockSource } from "./result_block.ts";
import type { ChecklistStatus } from "./status.ts";

/** What stands at one rule of a checklist. */
export interface Answer {
  readonly status: ChecklistStatus;
  readonly details: string;
  readonly comments: string;
}

/** What this scan has to say about one rule. */
export interface AutomatedAnswer extends Answer {
  /** False: it is for a person to answer. */
  readonly hasVerdict: boolean;
}

/** What is written at a rule. */
export interface MergedAnswer extends Answer {
  /** True: the status is a person's. */
  readonly isAnswered: boolean;
  /** The person's status that differs from the scan's verdict; null: none does. */
  readonly differing: ChecklistStatus | null;
}

/** Begins each line of the comments that the scanner wrote, so that the next run replaces it. */
const ownLine = "scanstream: ";

/** A rule of a checklist that nobody worked in. */
export function freshAnswer(result: AutomatedAnswer, source: BlockSource): MergedAnswer {
  return mergeAnswer({ status: "not_reviewed", details: "", comments: "" }, result, source);
}

/**
 * A rule that a person may have answered, with the result of this scan. Where the scan has no verdict, the person's answer
 * stays as it is; where it has one, the status is the scan's and the person's words stay beside it. Earlier results of the
 * scanner are replaced, so the same run again changes nothing.
 */
export function mergeAnswer(before: Answer, result: AutomatedAnswer, source: BlockSource): MergedAnswer {
  const { text, result: earlier } = splitDetails(before.details);
  const isUnchanged = earlier !== null && earlier.status === before.status;
  const status = isUnchanged ? (earlier.answered ?? "not_reviewed") : before.status;
  const answered = status === "not_reviewed" ? null : status;

  const isKept = !result.hasVerdict && answered !== null;
  const written = isKept ? answered : result.status;
  const block =
    result.details === "" ? "" : formatBlock({ status: written, answered }, result.details, source);
  const hasOwnWords = text.trim() !== "" || withoutOwnLines(before.comments).trim() !== "";
  // What a person answered, or began to, gets no words of the scanner unless it has a verdict, or had words there before.
  const isUntouched = !result.hasVerdict && earlier === null && (answered !== null || hasOwnWords);
  if (isUntouched) return { ...before, isAnswered: answered !== null, differing: null };
  return {
    status: written,
    details: joinParts([text, block]),
    comments: joinComments(before.comments, result.comments),
    isAnswered: isKept,
    differing: !isKept && result.hasVerdict && answered !== null && answered !== result.status ? answered : null,
  };
}

function joinComments(before: string, own: string): string {
  const lines = own === "" ? [] : own.split("\n").map((line) => `${ownLine}${line}`);
  const kept = withoutOwnLines(before);
  return lines.length === 0 ? kept : [...(kept === "" ? [] : [kept]), ...lines].join("\n");
}

/** As it was when there is none of them. */
function withoutOwnLines(comments: string): string {
  if (!comments.includes(ownLine)) return comments;
  return comments
    .split(/\r\n?|\n/)
    .filter((line) => !line.startsWith(ownLine))
    .join("\n");
}
