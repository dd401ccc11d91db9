/**
 * Wrong usage or settings: one message that names every problem and never a setting's value. The command line exits with 2. The heading
 * is a line before the problems: `Cannot use the configuration`.
 */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], { heading, ...options }: ErrorOptions & { readonly heading?: string } = {}) {
    super(toMessage(problems, heading), options);
    this.name = "UsageError";
    this.problems = problems;
  }
}

/** Tells the operator a problem of the settings, or all of them, and no values. */
export function settingsError(problems: string | readonly string[], options?: ErrorOptions): UsageError {
  return new UsageError([problems].flat(), { ...options, heading: "Cannot use the configuration" });
}

/** Content that cannot be used: the problems do not name its file, which the reader of the file does. */
export class ContentError extends UsageError {}

function toMessage(problems: readonly string[], heading: string | undefined): string {
  if (heading === undefined) return problems.join("\n");
  if (problems.length === 1) return `${heading}: ${problems.join()}`;
  return `${heading}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
}
