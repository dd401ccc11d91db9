import { InvalidSetting } from "../../shared/environment_reader.ts";
import type { OfferedValue } from "../../command_line/completion/offered_values.ts";
import type { NamedFile } from "../../command_line/files.ts";

export type CommandName =
  | "setup"
  | "doctor"
  | "scan"
  | "collect"
  | "evaluate"
  | "explain"
  | "fix"
  | "report"
  | "diff"
  | "history"
  | "verify"
  | "follow";

/** A value as a person wrote it: a text of a flag or a variable, any of these in the configuration file. */
export type Raw = string | number | boolean | readonly string[];

/** Facts about a setting that do not depend on its value. */
export interface Row {
  /** `--org-url <url>`, as help shows it. Absent: the command line does not have it. */
  readonly flag?: string;
  /** The variable, then its other names. Two of them with two values are an error. */
  readonly variables?: readonly [name: string, ...others: string[]];
  /** Place in the configuration file: everywhere, in an organization of the list only, or beside the list. Absent: not in the file. */
  readonly kept?: "everywhere" | "organization" | "top";
  /** True for the organization's address and key: a listed organization wins over a variable. */
  readonly isIdentity?: boolean;
  /** True where the option is about one organization: a run of several refuses it. */
  readonly isOfOne?: boolean;
  /** True for a folder in which each organization of the list has one of its own. */
  readonly isPerOrganization?: boolean;
  /** What is expected, where a command that connects cannot do without it. */
  readonly required?: string;
  readonly commands: readonly CommandName[];
  /** Heading in help. */
  readonly group?: string;
  readonly help: string;
  /** Words that a shell offers. */
  readonly words?: readonly string[] | (() => Promise<readonly OfferedValue[]>);
}

export interface Setting<Value> extends Row {
  readonly form: "text" | "list" | "path" | "number" | "switch";
  /** The value where nobody gives one. */
  readonly fallback: Value;
  /** Throws `InvalidSetting`. `source` is the flag, variable or place in the file. */
  readonly read: (raw: Raw, source: string) => Value;
}

export function text<Value, Fallback>(
  row: Row & { readonly fallback: Fallback },
  parse: (text: string) => Value,
): Setting<Value | Fallback> {
  return { form: "text", ...row, read: (raw) => parse(String(raw).trim()) };
}

/** Several texts: separated in a flag or a variable, in the file also a list. */
export function list<Value, Fallback>(
  row: Row & { readonly separator?: RegExp; readonly fallback: Fallback },
  /** Given the items that are not empty, and all of them. */
  parse: (items: readonly string[], all: readonly string[]) => Value,
): Setting<Value | Fallback> {
  const { separator = /,/, ...rest } = row;
  return {
    form: "list",
    ...rest,
    read(raw) {
      const all = (typeof raw === "object" ? raw : String(raw).split(separator)).map((item) => item.trim());
      return parse(
        all.filter((item) => item !== ""),
        all,
      );
    },
  };
}

/** A file or folder: its value keeps its source, which messages about its content name. */
export function path(row: Row): Setting<NamedFile | null> {
  return {
    form: "path",
    fallback: null,
    ...row,
    read(raw, source) {
      const file = String(raw).trim();
      if (file === "") throw new InvalidSetting(`expected a ${/<dir>/.test(row.flag ?? "") ? "directory" : "file"}`);
      return { option: source, file };
    },
  };
}

/** On or off; `--no-…` turns off what is on by default. */
export function onOff(row: Row): Setting<boolean> {
  return { form: "switch", fallback: row.flag?.startsWith("--no-") === true, ...row, read: (raw) => raw === true };
}

/** A number within these bounds, times `factor`. */
export function number(
  row: Row & {
    readonly least: number;
    readonly most: number;
    readonly unit: string;
    readonly isWhole: boolean;
    readonly factor?: number;
    readonly fallback: number;
  },
): Setting<number> {
  const { least, most, unit, isWhole, factor = 1, ...rest } = row;
  return {
    form: "number",
    ...rest,
    help: `${row.help} (default: ${row.fallback / factor})`,
    read(raw) {
      const given = String(raw).trim();
      const value = (isWhole ? /^\d{1,6}$/ : /^\d{1,6}(\.\d+)?$/).test(given) ? Number(given) : Number.NaN;
      if (value >= least && value <= most) return isWhole ? value * factor : Math.max(1, Math.round(value * factor));
      throw new InvalidSetting(`expected a ${isWhole ? "whole " : ""}number of ${unit} from ${least} to ${most}`);
    },
  };
}

/** One of these words; the first is the default. */
export function word<const Word extends string>(
  row: Row & { readonly words: readonly [Word, ...Word[]] },
): Setting<Word> {
  const { words } = row;
  return text({ ...row, fallback: words[0] }, (given) => {
    const found = words.find((each) => each === given);
    if (found !== undefined) return found;
    throw new InvalidSetting(`${JSON.stringify(given)}: expected ${words.join(" or ")}`);
  });
}

/** Some of these words, or `all` of them; the first by default. */
export function words<const Word extends string>(
  row: Row & { readonly words: readonly [Word, ...Word[]] },
): Setting<readonly Word[]> {
  const known: readonly string[] = row.words;
  return list({ ...row, fallback: [row.words[0]] }, (items) => {
    const unknown = items.filter((item) => !known.includes(item));
    if (items.includes("all")) return row.words;
    if (items.length > 0 && unknown.length === 0) return [...new Set(items)] as Word[];
    throw new InvalidSetting(`${JSON.stringify(items.join(","))}: expected one or more of ${known.join(", ")}`);
  });
}

/** `orgUrl` of `--org-url <url>`, as commander names it: `stream` of `--no-stream`. */
export function attributeOf({ flag = "" }: Row): string {
  const name = /^--(?:no-)?([a-z-]+)/.exec(flag)?.[1] ?? "";
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Name in the configuration file: `fail_on` of `--fail-on`, and of a row without a flag its own: `scope_prefix` of `scopePrefix`. */
export function memberOf(name: string, row: Row): string {
  const given = row.flag === undefined ? name : attributeOf(row);
  return given.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
