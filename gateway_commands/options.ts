import { InvalidArgumentError, Option } from "commander";

/** What options of several commands take. */

export function toWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** The first is the default. */
export function formats(...names: readonly [string, ...string[]]): Option {
  const list = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return new Option("--format <format>", list).choices(names).default(names[0]);
}
