import type { Argument, Command, Option } from "commander";
import { offerOf, type OfferedValue } from "./offered_values.ts";

/** Offers of a shell for the word at the cursor: whole words, each beginning with what was typed. `list`: they may go on after a comma. */
interface Completion {
  readonly kind: "words" | "list" | "files" | "directories";
  readonly values: readonly OfferedValue[];
}

/** The words after the program's name, up to the cursor; the last one is completed, and is empty after a blank. */
export async function complete(program: Command, words: readonly string[]): Promise<Completion> {
  const typed = words.at(-1) ?? "";
  const { command, option, used, position, isOver } = findPlace(program, words.slice(0, -1));
  // One that takes several values ends at the next option.
  if (option !== null && !(option.variadic && typed.startsWith("-"))) return completeValue(option, typed, "");
  if (!isOver && typed.startsWith("-")) {
    const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
    const named = name === undefined ? undefined : optionsOf(command).find(({ long }) => long === name);
    if (named !== undefined && value !== undefined) return completeValue(named, value, `${name}=`);
    return toWords(
      typed,
      optionsOf(command)
        .filter((known) => known.variadic || !used.has(known))
        .map(toOffered),
    );
  }
  const commands = isOver || position > 0 ? [] : command.createHelp().visibleCommands(command);
  const argument = argumentAt(command, position);
  // A command that has commands below it may still take its own argument.
  if (commands.length === 0) return argument === undefined ? nothing : completeValue(argument, typed, "");
  return toWords(
    typed,
    commands.map((below) => ({ value: below.name(), description: below.description() })),
  );
}

const nothing: Completion = { kind: "words", values: [] };

/** Reads the words before the cursor. */
function findPlace(program: Command, words: readonly string[]) {
  let command = program;
  /** The option whose value comes next. */
  let option: Option | null = null;
  const used = new Set<Option>();
  /** How many arguments there were. */
  let position = 0;
  /** Set behind `--`: no options any more. */
  let isOver = false;
  for (const word of words) {
    if (option !== null && (!option.variadic || !word.startsWith("-"))) {
      if (!option.variadic) option = null;
    } else if (!isOver && word === "--") {
      option = null;
      isOver = true;
    } else if (!isOver && word.startsWith("-") && word !== "-") {
      // `--name`, `--name=value`, `-n` or `-nvalue`; of several short ones in one word, the first.
      const [name = ""] = word.startsWith("--") ? word.split("=", 1) : [word.slice(0, 2)];
      const found = optionsOf(command).find(({ long, short }) => long === name || short === name);
      if (found !== undefined) used.add(found);
      option = found?.required === true && word === name ? found : null;
    } else {
      const below = position > 0 || isOver ? undefined : command.commands.find((one) => one.name() === word);
      if (below !== undefined) command = below;
      // After `help` stand the same commands.
      else if (word !== "help" || command.commands.length === 0) position += 1;
    }
  }
  return { command, option, used, position, isOver };
}

/** Its own and those of the commands above it. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function argumentAt(command: Command, position: number): Argument | undefined {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  return registeredArguments[position] ?? (last?.variadic === true ? last : undefined);
}

function toOffered({ long, short, description }: Option): OfferedValue {
  return { value: long ?? short ?? "", description };
}

async function completeValue(input: Option | Argument, typed: string, before: string): Promise<Completion> {
  const offer = offerOf(input);
  if (offer === null) return nothing;
  if (!("values" in offer)) return { kind: offer.kind, values: [] };
  const values = await offer.values();
  if (offer.kind === "one") return toWords(`${before}${typed}`, values, before);
  const comma = typed.lastIndexOf(",") + 1;
  const given = typed.slice(0, comma).split(",");
  const left = values.filter(({ value }) => !given.includes(value));
  return { ...toWords(`${before}${typed}`, left, `${before}${typed.slice(0, comma)}`), kind: "list" };
}

function toWords(typed: string, values: readonly OfferedValue[], before = ""): Completion {
  const whole = values.map((offered) => ({ ...offered, value: before + offered.value }));
  return { kind: "words", values: whole.filter(({ value }) => value.startsWith(typed)) };
}
