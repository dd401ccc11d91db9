/**
 * Exit codes of the command line. `usage` also means that a file or stdout that was asked for could not be written; `unread`, that
 * nothing could be evaluated, or that rules have no result for a reason that somebody can repair.
 */
export const exitCodes = {
  ok: 0,
  findings: 1,
  usage: 2,
  unread: 3,
  bug: 4,
  interrupted: 130,
} as const;

/** True for the codes of a run that went well: nothing failed, or findings did. */
export function isVerdict(code: number): boolean {
  return code === exitCodes.ok || code === exitCodes.findings;
}
