import { checklistStatuses, statusLabels, type ChecklistStatus } from "./status.ts";

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

/** Tool that gave the automated results of a checklist, and when. */
export interface ResultEngine {
  readonly toolVersion: string;
  /** ISO 8601. */
  readonly time: string;
}

/** Begins each line of the comments that the scanner wrote, so that the next run replaces it. */
const ownLine = "scanstream: ";

export const noAnswer: Answer = { status: "not_reviewed", details: "", comments: "" };

/**
 * A rule that a person may have answered, with the result of this scan. Where the scan has no verdict, the person's answer
 * stays as it is; where it has one, the status is the scan's and the person's words stay next to it. Earlier results of the
 * scanner are replaced, so the same run again changes nothing. Without a `given` answer nobody worked in the checklist; without a result
 * this scan did not examine the rule.
 */
export function mergeAnswer(
  given: Answer | undefined,
  result: AutomatedAnswer | null,
  engine: ResultEngine,
): MergedAnswer {
  const before = given ?? noAnswer;
  if (given === undefined && result === null)
    return { ...noAnswer, comments: `${ownLine}Not selected in this scan.`, differing: null };
  const { text, earlier, answered, isAnswered } = personsPart(before);
  if (result === null) return { ...before, differing: null };
  // Without a verdict, what a person answered or began to answer gets no words of the scanner, unless it had some before.
  const isLeft = answered !== null || (isAnswered && result.status === "not_reviewed");
  if (!result.hasVerdict && earlier === null && isLeft) return { ...before, differing: null };
  const isKept = !result.hasVerdict && answered !== null;
  const status = isKept ? answered : result.status;
  const statuses = `Status: ${statusLabels[status]}.${answered === null ? "" : ` A person answered ${statusLabels[answered]}.`}`;
  // Framed so that the next run finds it again, and a reader sees whose words they are.
  const first = `--- scanstream ${engine.toolVersion}, automated result of ${engine.time} ---`;
  const block = result.details === "" ? "" : [first, statuses, result.details, ending].join("\n");
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

/** Removes the lines that scanstream wrote; comments without them are unchanged. */
function withoutOwnLines(comments: string): string {
  if (!comments.includes(ownLine)) return comments;
  return comments
    .split(/\r\n?|\n/)
    .filter((line) => !line.startsWith(ownLine))
    .join("\n");
}

const ending = "--- end of the automated result ---";
/** Lines of findings begin with a verdict, so no name of the provider can be one of these lines. */
const block =
  /^--- scanstream .*\nStatus: ([A-Z][A-Za-z ]+)\.(?: A person answered ([A-Z][A-Za-z ]+)\.)?\n[^]*?(?:^--- end of the automated result ---$|(?![^]))/m;

/**
 * The details without the scanner's part, and the statuses that it names: the scanner's, and that of a person before it; null: none
 * exists, and the text is as it was.
 */
export function splitDetails(details: string) {
  const normal = details.replace(/\r\n?/g, "\n");
  const match = block.exec(normal);
  const status = statusOf(match?.[1]);
  if (match === null || status === null) return { text: details, result: null };
  const around = [normal.slice(0, match.index), normal.slice(match.index + match[0].length)];
  return { text: joinParts(around.map((part) => part.trim())), result: { status, answered: statusOf(match[2]) } };
}

/** Parts of a text with an empty line between them. */
function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

function statusOf(label: string | undefined): ChecklistStatus | null {
  return checklistStatuses.find((status) => statusLabels[status] === label) ?? null;
}
