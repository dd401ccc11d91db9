import { InvalidSetting } from "../../shared/environment_reader.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import type { OfferedValue } from "../../command_line/completion/offered_values.ts";
import type { NamedFile } from "../../command_line/files.ts";

/** The commands that connect to an organization. */
export const connecting = ["doctor", "scan", "collect", "explain", "fix", "report", "org-policy", "follow"] as const;
export type CommandName = (typeof connecting)[number] | "setup" | "evaluate" | "diff" | "history" | "verify";

/** A value as a person wrote it: a text of a flag or a variable, any of these in the configuration file. */
export type Raw = string | number | boolean | readonly string[];

/** Facts about a setting that the rows of a section may share. */
interface Facts {
  readonly commands: readonly CommandName[];
  /** Heading in help. */
  readonly group?: string;
  /** Place in the configuration file: everywhere, in an organization of the list only, or beside the list. Absent: not in the file. */
  readonly kept?: "everywhere" | "organization" | "top" | undefined;
  /** True for the organization's address and key: a listed organization wins over a variable. */
  readonly isIdentity?: boolean;
  /** The variable, then its other names. Two of them with two values are an error. */
  readonly variables?: readonly string[];
  /** True where the option is about one organization: a run of several refuses it. */
  readonly isOfOne?: boolean;
  /** True for a folder in which each organization of the list has one of its own. */
  readonly isPerOrganization?: boolean;
  /** Words that a shell offers. */
  readonly words?: readonly string[] | (() => Promise<readonly OfferedValue[]>);
}

export interface Setting<Value> extends Facts {
  /** `--org-url <url>`, as help shows it; null: the command line does not have it. */
  readonly flag: string | null;
  readonly help: string;
  readonly form: "text" | "list" | "path" | "number" | "switch";
  /** The value where nobody gives one. */
  readonly fallback: Value;
  /** Throws `InvalidSetting`. `source` is the flag, variable or place in the file. */
  readonly read: (raw: Raw, source: string) => Value;
}

type Own = Partial<Facts>;
/** A setting without the facts of its section. */
type Row<Value> = Own & Omit<Setting<Value>, keyof Facts>;

/** Rows with what they share; a row's own facts win. */
export function section(shared: Facts) {
  return {
    rows<const Rows extends Record<string, Row<unknown>>>(rows: Rows) {
      const entries = Object.entries(rows).map(([name, row]) => [name, { ...shared, ...row }]);
      return Object.fromEntries(entries) as { readonly [Name in keyof Rows]: Setting<Rows[Name]["fallback"]> };
    },
  };
}

/** Options of a setting whose value is null without a fallback. */
type WithFallback<Value, Fallback> = Own & { readonly fallback?: Fallback & (Value | null) };

export function text<Value, Fallback = null>(
  flag: string | null,
  help: string,
  parse: (text: string) => Value,
  { fallback, ...own }: WithFallback<Value, Fallback> = {},
): Row<NoInfer<Value | Fallback>> {
  const read = (raw: Raw) => parse(String(raw).trim());
  return { form: "text", fallback: (fallback ?? null) as Fallback, flag, help, ...own, read };
}

/** Several texts: separated by commas in a flag or a variable, in the file also a list. `parse` gets the texts without the empty ones. */
export function list<Value, Fallback = null>(
  flag: string | null,
  help: string,
  parse: (items: readonly string[]) => Value,
  { fallback, ...own }: WithFallback<Value, Fallback> = {},
): Row<NoInfer<Value | Fallback>> {
  const read = (raw: Raw) => {
    const all = typeof raw === "object" ? raw : String(raw).split(",");
    return parse(all.map((item) => item.trim()).filter((item) => item !== ""));
  };
  return { form: "list", fallback: (fallback ?? null) as Fallback, flag, help, ...own, read };
}

/** A file or folder: its value keeps its source, which messages about its content name. */
export function path(flag: string, help: string, own: Own = {}): Row<NamedFile | null> {
  const read = (raw: Raw, option: string) => {
    const file = String(raw).trim();
    if (file === "") throw new InvalidSetting(`expected a ${flag.includes("<dir>") ? "directory" : "file"}`);
    return { option, file };
  };
  return { form: "path", fallback: null, flag, help, ...own, read };
}

/** On or off; `--no-…` turns off what is on by default. */
export function onOff(flag: string, help: string, own: Own = {}): Row<boolean> {
  return { form: "switch", fallback: flag.startsWith("--no-"), flag, help, ...own, read: (raw) => raw === true };
}

/** Milliseconds of a unit. A number of these units may have a fraction, and its value is in milliseconds. */
const unitsMs: Readonly<Record<string, number>> = { seconds: 1000, hours: 3_600_000 };

interface Bounds extends Own {
  /** Absent: the word of the flag. */
  readonly unit?: string;
  readonly range: readonly [least: number, most: number];
  /** Default, in the unit. */
  readonly fallback: number;
}

export function number(flag: string, help: string, { unit, range: [least, most], ...own }: Bounds): Row<number> {
  const named = unit ?? /<(.*)>/.exec(flag)?.[1] ?? "";
  const unitMs = unitsMs[named];
  const pattern = unitMs === undefined ? /^\d{1,6}$/ : /^\d{1,6}(\.\d+)?$/;
  const toValue = (count: number) => (unitMs === undefined ? count : Math.max(1, Math.round(count * unitMs)));
  const read = (raw: Raw) => {
    const count = pattern.test(String(raw).trim()) ? Number(raw) : Number.NaN;
    if (count >= least && count <= most) return toValue(count);
    const whole = unitMs === undefined ? "whole " : "";
    throw new InvalidSetting(`expected a ${whole}number of ${named} from ${least} to ${most}`);
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
): Row<NoInfer<Word | Fallback>> {
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
): Row<readonly Name[]> {
  const isKnown = (item: string): item is Name => known.some((name) => name === item);
  const parse = (items: readonly string[]): readonly Name[] => {
    const given = [...new Set(items.flatMap((item): readonly string[] => (item === "all" ? known : [item])))];
    if (given.length > 0 && given.every(isKnown)) return given;
    const unknown = given.flatMap((item) => {
      const nearest = nearestName(item, known);
      const advice = nearest === null ? "" : ` (did you mean ${nearest}?)`;
      return isKnown(item) ? [] : [`unknown format ${JSON.stringify(item)}${advice}; `];
    });
    const expected = `expected one or more of ${[...known, "all"].join(", ")}`;
    throw new InvalidSetting(`${JSON.stringify(items.join(","))}: ${unknown.join("")}${expected}`);
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
