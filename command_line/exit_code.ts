/**
 * Exit codes of the command line, worst first. `refused`: nothing could be evaluated; `usage`: also that a file or stdout that was
 * asked for could not be written; `unread`: rules have no result for a reason that somebody can repair.
 */
export const exitCodes = {
  interrupted: 130,
  bug: 4,
  refused: 3,
  usage: 2,
  findings: 1,
  unread: 3,
  ok: 0,
} as const;

export type Outcome = keyof typeof exitCodes;

/** The worst of what happened in a run, which decides its exit code. */
export function worstOf(happened: readonly (Outcome | false)[]): Outcome {
  return (Object.keys(exitCodes) as Outcome[]).find((outcome) => happened.includes(outcome)) ?? "ok";
}

/** Returns true for the codes of a run that went well: nothing failed, or findings did. */
export function isVerdict(code: number): boolean {
  return code === exitCodes.ok || code === exitCodes.findings;
}
