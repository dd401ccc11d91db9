/** Wrong usage or configuration: one message that names every problem; the command line exits with 2. */
export class UsageError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "UsageError";
  }
}
