import type { Environment } from "../../command_line/command_io.ts";
import type { Members } from "./config_file.ts";
import { attributeOf, memberOf, type Raw, type Setting } from "./setting.ts";
import { table, type SettingName } from "./table.ts";
import { isSameOrg } from "./values.ts";

/** Options of one command, as commander gives them. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A part of the configuration file that has settings; earlier ones win. */
export interface FileLayer {
  /** As messages name it: `scanstream.config.json: organization acme`. */
  readonly place: string;
  readonly members: Members;
}

export interface Found {
  readonly raw: Raw;
  /** As the person wrote it. */
  readonly source: string;
}

/** One place that may have settings. */
export interface Layer {
  find(name: SettingName): Found | null;
}

export function flagLayer(flags: Flags): Layer {
  return {
    find(name) {
      const row: Setting<unknown> = table[name];
      if (row.flag === null) return null;
      const raw = flags[attributeOf(row)];
      // The option of a switch can only turn it away from its default; commander gives the others their defaults.
      const isGiven = row.form === "switch" ? raw === !row.fallback : typeof raw === "string";
      return isGiven && raw !== undefined ? { raw, source: flagOf(row) } : null;
    },
  };
}

export function fileLayer({ place, members }: FileLayer): Layer {
  return {
    find(name) {
      const row: Setting<unknown> = table[name];
      const member = memberOf(name, row);
      const raw = row.kept === undefined ? undefined : members[member];
      return raw === undefined ? null : { raw, source: `${place}: ${member}` };
    },
  };
}

/** Variables under any of their names; two with two values are a problem, unless a flag decides. */
export function variableLayer(env: Environment, report: (name: SettingName, problem: string) => void): Layer {
  return {
    find(name) {
      const row: Setting<unknown> = table[name];
      const given = (row.variables ?? []).flatMap((variable) => {
        const value = textOf(env, variable);
        return value === null ? [] : [{ raw: value, source: variable }];
      });
      const [first] = given;
      if (first === undefined) return null;
      const other = given.find(({ raw }) => !isSameValue(name, raw, first.raw));
      if (other !== undefined)
        report(
          name,
          `${first.source} and ${other.source} have two values: expected one of them, or the same value in both`,
        );
      return first;
    },
  };
}

export function flagOf({ flag }: Setting<unknown>): string {
  return flag?.split(" ")[0] ?? "";
}

/** An empty variable is as one that is not set. */
export function textOf(env: Environment, name: string): string | null {
  const value = env[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

function isSameValue(name: SettingName, one: string, other: string): boolean {
  if (name === "orgUrl") return isSameOrg(one, other);
  // A program of Unix sets either case, and the lower one wins.
  if (name === "httpsProxy" || name === "noProxy") return true;
  if (name !== "scopes") return one === other;
  const scopesOf = (text: string) => text.split(/[\s,]+/).map((scope) => scope.replace(/^(okta|idp)\./, ""));
  return scopesOf(one).toSorted().join() === scopesOf(other).toSorted().join();
}
