import type { Argument, Option } from "commander";

export interface OfferedValue {
  readonly value: string;
  /** One line next to it, in shells that show one. */
  readonly description?: string;
}

/** Values that may stand in the place of an option's value or of an argument. */
export type Offer =
  | { readonly kind: "files" | "directories" }
  /** `list`: several of them, separated by commas. */
  | { readonly kind: "one" | "list"; readonly values: () => Promise<readonly OfferedValue[]> };

const offers = new WeakMap<Option | Argument, Offer>();

/** A function of the words is called when a shell completes, never for a run: it may load what a command does not need. */
export function offering<Input extends Option | Argument>(
  input: Input,
  kind: "one" | "list",
  words: readonly string[] | (() => Promise<readonly (OfferedValue | string)[]>),
): Input {
  const toOffered = (value: OfferedValue | string) => (typeof value === "string" ? { value } : value);
  const values = async () => (typeof words === "function" ? await words() : words).map(toOffered);
  offers.set(input, { kind, values });
  return input;
}

/** Returns null where anything may stand. Choices, and the word for the value in the help, say it for most. */
export function offerOf(input: Option | Argument): Offer | null {
  const given = offers.get(input);
  if (given !== undefined) return given;
  const { argChoices } = input;
  if (argChoices !== undefined) {
    return { kind: "one", values: () => Promise.resolve(argChoices.map((value) => ({ value }))) };
  }
  const word = /[<[]([^>\].]+)/.exec("flags" in input ? input.flags : `<${input.name()}>`)?.[1] ?? "";
  if (word === "dir") return { kind: "directories" };
  return fileWords.has(word) ? { kind: "files" } : null;
}

const fileWords: ReadonlySet<string> = new Set(["file", "report", "before", "after", "command"]);
