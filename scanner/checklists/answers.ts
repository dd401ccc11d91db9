import type { RuleState } from "../../shared/rule_result.ts";

/**
 * The statuses of a rule in a checklist, by their words in CKLB: the state of a rule that has it, the words for people and in CKL, and the
 * result that a person attests with it.
 */
export const checklistStatuses = {
  not_reviewed: { state: "manual", label: "Not Reviewed", ckl: "Not_Reviewed", attests: null },
  open: { state: "fail", label: "Open", ckl: "Open", attests: "FAIL" },
  not_a_finding: { state: "pass", label: "Not a Finding", ckl: "NotAFinding", attests: "PASS" },
  not_applicable: {
    state: "not_applicable",
    label: "Not Applicable",
    ckl: "Not_Applicable",
    attests: "NOT_APPLICABLE",
  },
} as const;

export type ChecklistStatus = keyof typeof checklistStatuses;
export const statusNames = Object.keys(checklistStatuses) as readonly ChecklistStatus[];

export function findStatus(kind: "state" | "label" | "ckl", word: string | undefined): ChecklistStatus | null {
  return statusNames.find((status) => checklistStatuses[status][kind] === word) ?? null;
}

/** The status of a rule in this state. */
export function statusOf(state: RuleState): ChecklistStatus {
  return findStatus("state", state) ?? "not_reviewed";
}

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

/** Begins each line of the comments that the scanner wrote, so that the next run replaces it. */
const ownLine = "scanstream: ";

export const noAnswer: Answer = { status: "not_reviewed", details: "", comments: "" };

/**
 * A rule that a person may have answered, with the result of this scan. Where the scan has no verdict, the person's answer
 * stays as it is; where it has one, the status is the scan's and the person's words stay next to it. Earlier results of the
 * scanner are replaced, so the same run again changes nothing. Without a `given` answer nobody worked in the checklist; without a result
 * this scan did not examine the rule. `engine`: the scanner's version, and the time of the result. `differing` in the answer: a person's
 * status that is not the verdict.
 */
export function mergeAnswer(
  given: Answer | undefined,
  result: AutomatedAnswer | null,
  engine: { readonly toolVersion: string; readonly time: string },
): Answer & { readonly differing: ChecklistStatus | null } {
  if (result === null)
    return { ...(given ?? { ...noAnswer, comments: `${ownLine}Not selected in this scan.` }), differing: null };
  const before = given ?? noAnswer;
  const { text, earlier, answered, comments, isAnswered } = personsPart(before);
  // Without a verdict, what a person answered or began to answer gets no words of the scanner, unless it had some before.
  const isLeft = answered !== null || (isAnswered && result.status === "not_reviewed");
  if (!result.hasVerdict && earlier === null && isLeft) return { ...before, differing: null };
  const isKept = !result.hasVerdict && answered !== null;
  const status = isKept ? answered : result.status;
  const person = answered === null ? "" : ` A person answered ${checklistStatuses[answered].label}.`;
  // Framed so that the next run finds it again, and a reader sees whose words they are.
  const block = [
    `--- scanstream ${engine.toolVersion}, automated result of ${engine.time} ---`,
    `Status: ${checklistStatuses[status].label}.${person}`,
    result.details,
    "--- end of the automated result ---",
  ];
  const ownLines = result.comments.split("\n").map((line) => `${ownLine}${line}`);
  return {
    status,
    details: joinParts([text, result.details === "" ? "" : block.join("\n")], "\n\n"),
    comments: joinParts([comments, result.comments === "" ? "" : ownLines.join("\n")], "\n"),
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
  return { text, earlier, answered, comments, isAnswered };
}

/** Removes the lines that scanstream wrote; comments without them are unchanged. */
function withoutOwnLines(comments: string): string {
  if (!comments.includes(ownLine)) return comments;
  return comments
    .split(/\r\n?|\n/)
    .filter((line) => !line.startsWith(ownLine))
    .join("\n");
}

/** Lines of findings begin with a verdict, so no name of the provider can be one of these lines. */
const automatedResult =
  /^--- scanstream .*\nStatus: ([A-Z][A-Za-z ]+)\.(?: A person answered ([A-Z][A-Za-z ]+)\.)?\n[^]*?(?:^--- end of the automated result ---$|(?![^]))/m;

/**
 * The details without the scanner's part, and the statuses that it names: the scanner's, and that of a person before it; null: none
 * exists, and the text is as it was.
 */
export function splitDetails(details: string) {
  const normal = details.replace(/\r\n?/g, "\n");
  const match = automatedResult.exec(normal);
  const status = findStatus("label", match?.[1]);
  if (match === null || status === null) return { text: details, result: null };
  const around = [normal.slice(0, match.index), normal.slice(match.index + match[0].length)];
  const text = joinParts(
    around.map((part) => part.trim()),
    "\n\n",
  );
  return { text, result: { status, answered: findStatus("label", match[2]) } };
}

function joinParts(parts: readonly string[], between: string): string {
  return parts.filter((part) => part !== "").join(between);
}
