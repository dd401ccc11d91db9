import type { ChecklistStatus } from "./status.ts";
import { checklistStatuses, statusLabels } from "./status.ts";

/** Block that the scanner wrote into the details of a rule, as it stands there after a person may have edited the text around it. */
export interface ResultBlock {
  /** The status that the scanner gave the rule. */
  readonly status: ChecklistStatus;
  /** The status that a person had given it before; null: none. */
  readonly answered: ChecklistStatus | null;
}

/** Tool that gave the automated results of a checklist, and when. */
export interface ResultEngine {
  readonly toolVersion: string;
  /** ISO 8601. */
  readonly time: string;
}

const beginning = "--- scanstream ";
const ending = "--- end of the automated result ---";
/** Lines of findings begin with a verdict, so no name of the provider can be one of these lines. */
const block =
  /^--- scanstream .*\nStatus: ([A-Z][A-Za-z ]+)\.(?: A person answered ([A-Z][A-Za-z ]+)\.)?\n[^]*?(?:^--- end of the automated result ---$|(?![^]))/m;

/** The scanner's part of a rule's details, framed so that the next run finds it again and a reader sees whose words they are. */
export function formatBlock(result: ResultBlock, details: string, { toolVersion, time }: ResultEngine): string {
  const answered = result.answered === null ? "" : ` A person answered ${statusLabels[result.answered]}.`;
  return [
    `${beginning}${toolVersion}, automated result of ${time} ---`,
    `Status: ${statusLabels[result.status]}.${answered}`,
    details,
    ending,
  ].join("\n");
}

/** The details without the scanner's part, and what that said; null: none exists, and the text is as it was. */
export function splitDetails(details: string): { readonly text: string; readonly result: ResultBlock | null } {
  const normal = details.replace(/\r\n?/g, "\n");
  const match = block.exec(normal);
  const status = statusOf(match?.[1]);
  if (match === null || status === null) return { text: details, result: null };
  const around = [normal.slice(0, match.index), normal.slice(match.index + match[0].length)];
  return { text: joinParts(around.map((part) => part.trim())), result: { status, answered: statusOf(match[2]) } };
}

/** Parts of a text with an empty line between them. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

function statusOf(label: string | undefined): ChecklistStatus | null {
  return checklistStatuses.find((status) => statusLabels[status] === label) ?? null;
}
