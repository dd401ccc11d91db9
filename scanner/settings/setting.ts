import { InvalidSetting } from "../../shared/environment_reader.ts";
import { nearestName } from "../../shared/nearest_name.ts";
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
  | "org-policy"
  | "follow";

/** A value as a person wrote it: a text of a flag or a variable, any of these in the configuration file. */
export type Raw = string | number | boolean | readonly string[];

/** Facts about settings that several rows share. */
interface Shared {
  readonly commands: readonly CommandName[];
  /** Heading in help. */
  readonly group?: string;
  /** Place in the configuration file: everywhere, in an organization of the list only, or beside the list. Absent: not in the file. */
  readonly kept?: "everywhere" | "organization" | "top";
  /** True for the organization's address and key: a listed organization wins over a variable. */
  readonly isIdentity?: boolean;
}

interface Own extends Partial<Shared> {
  /** The variable, then its other names. Two of them with two values are an error. */
  readonly variables?: readonly string[];
  /** True where the option is about one organization: a run of several refuses it. */
  readonly isOfOne?: boolean;
  /** True for a folder in which each organization of the list has one of its own. */
  readonly isPerOrganization?: boolean;
  /** Expected form, where a command that connects cannot do without it. */
  readonly required?: string;
  /** Words that a shell offers. */
  readonly words?: readonly string[] | (() => Promise<readonly OfferedValue[]>);
}

interface Kind<Value> extends Own {
  /** `--org-url <url>`, as help shows it; null: the command line does not have it. */
  readonly flag: string | null;
  readonly help: string;
  readonly form: "text" | "list" | "path" | "number" | "switch";
  /** The value where nobody gives one. */
  readonly fallback: Value;
  /** Throws `InvalidSetting`. `source` is the flag, variable or place in the file. */
  readonly read: (raw: Raw, source: string) => Value;
}

export type Setting<Value> = Kind<Value> & Shared;

/** Rows with what they share; a row's own facts win. */
export function section<const Rows extends Record<string, Kind<unknown>>>(shared: Shared, rows: Rows) {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...shared, ...row }]);
  return Object.fromEntries(entries) as { readonly [Name in keyof Rows]: Setting<Rows[Name]["fallback"]> };
}

/** Options of a setting whose value is null without a fallback. */
type WithFallback<Value, Fallback> = Own & { readonly fallback?: Fallback & (Value | null) };

export function text<Value, Fallback = null>(
  flag: string | null,
  help: string,
  parse: (text: string) => Value,
  { fallback, ...own }: WithFallback<Value, Fallback> = {},
): Kind<NoInfer<Value | Fallback>> {
  const read = (raw: Raw) => parse(String(raw).trim());
  return { form: "text", fallback: (fallback ?? null) as Fallback, flag, help, ...own, read };
}

/** Several texts: separated in a flag or a variable, in the file also a list. `parse` is given those that are not empty. */
export function list<Value, Fallback = null>(
  flag: string | null,
  help: string,
  parse: (items: readonly string[]) => Value,
  { separator = /,/, fallback, ...own }: WithFallback<Value, Fallback> & { readonly separator?: RegExp } = {},
): Kind<NoInfer<Value | Fallback>> {
  const read = (raw: Raw) => {
    const all = typeof raw === "object" ? raw : String(raw).split(separator);
    return parse(all.map((item) => item.trim()).filter((item) => item !== ""));
  };
  return { form: "list", fallback: (fallback ?? null) as Fallback, flag, help, ...own, read };
}

/** A file or folder: its value keeps its source, which messages about its content name. */
export function path(flag: string, help: string, own: Own = {}): Kind<NamedFile | null> {
  const read = (raw: Raw, option: string) => {
    const file = String(raw).trim();
    if (file === "") throw new InvalidSetting(`expected a ${flag.includes("<dir>") ? "directory" : "file"}`);
    return { option, file };
  };
  return { form: "path", fallback: null, flag, help, ...own, read };
}

/** On or off; `--no-…` turns off what is on by default. */
export function onOff(flag: string, help: string, own: Own = {}): Kind<boolean> {
  return { form: "switch", fallback: flag.startsWith("--no-"), flag, help, ...own, read: (raw) => raw === true };
}

interface Bounds extends Own {
  readonly unit: string;
  readonly range: readonly [least: number, most: number];
  /** Default, in the unit. */
  readonly fallback: number;
  /** Present for a number with a fraction: the value is that many times the number. */
  readonly factor?: number;
}

export function number(
  flag: string,
  help: string,
  { unit, range: [least, most], factor, ...own }: Bounds,
): Kind<number> {
  const pattern = factor === undefined ? /^\d{1,6}$/ : /^\d{1,6}(\.\d+)?$/;
  const toValue = (count: number) => (factor === undefined ? count : Math.max(1, Math.round(count * factor)));
  const read = (raw: Raw) => {
    const count = pattern.test(String(raw).trim()) ? Number(raw) : Number.NaN;
    if (count >= least && count <= most) return toValue(count);
    const whole = factor === undefined ? "whole " : "";
    throw new InvalidSetting(`expected a ${whole}number of ${unit} from ${least} to ${most}`);
  };
  const described = `${help} (default: ${own.fallback})`;
  return { form: "number", flag, help: described, ...own, fallback: toValue(own.fallback), read };
}

/** One of these words, by default the first. The value of a variable is not repeated: it may be a secret in the wrong place. */
export function word<const Word extends string, Fallback = Word>(
  flag: string | null,
  help: string,
  known: readonly [Word, ...Word[]],
  own: WithFallback<Word, Fallback> = {},
): Kind<NoInfer<Word | Fallback>> {
  const parse = (given: string) => {
    const found = known.find((each) => each === given);
    if (found !== undefined) return found;
    throw new InvalidSetting(`${flag === null ? "" : `${JSON.stringify(given)}: `}expected ${known.join(" or ")}`);
  };
  return text(flag, help, parse, { words: known, fallback: known[0] as Fallback & Word, ...own });
}

/** Some of these formats, or `all` of them; by default the first. */
export function formats<const Name extends string>(
  help: string,
  known: readonly Name[],
  own: Own = {},
): Kind<readonly Name[]> {
  const parse = (items: readonly string[]): readonly Name[] => {
    const given = new Set(items.flatMap((item): readonly string[] => (item === "all" ? known : [item])));
    const found = [...given].flatMap((item) => known.find((name) => name === item) ?? []);
    if (found.length > 0 && found.length === given.size) return found;
    const unknown = [...given].filter((item) => !known.some((name) => name === item));
    const which = unknown.map((item) => {
      const nearest = nearestName(item, known);
      return `unknown format ${JSON.stringify(item)}${nearest === null ? "" : ` (did you mean ${nearest}?)`}; `;
    });
    throw new InvalidSetting(
      `${JSON.stringify(items.join(","))}: ${which.join("")}expected one or more of ${[...known, "all"].join(", ")}`,
    );
  };
  return list("--format <formats>", help, parse, { words: [...known, "all"], fallback: known.slice(0, 1), ...own });
}

/** `--org-url` of `--org-url <url>`; empty where the command line does not have it. */
export function flagOf({ flag }: Setting<unknown>): string {
  return flag?.split(" ")[0] ?? "";
}

/** `orgUrl` of `--org-url <url>`, as commander names it: `stream` of `--no-stream`. */
export function attributeOf(row: Setting<unknown>): string {
  const name = flagOf(row).replace(/^--(?:no-)?/, "");
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Name in the configuration file: `fail_on` of `--fail-on`, and of a row without a flag its own: `scope_prefix` of `scopePrefix`. */
export function memberOf(name: string, row: Setting<unknown>): string {
  const given = row.flag === null ? name : attributeOf(row);
  return given.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
