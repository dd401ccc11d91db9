import { parse as parseYaml } from "yaml";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { shorten } from "../../../shared/text.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import { refuseFile } from "../option_file.ts";
import type { Threshold } from "./thresholds.ts";

/** Threshold files of MITRE's SAF (https://github.com/mitre/saf/wiki/Validation-with-Thresholds), YAML or JSON, nested or with dotted keys. Small, as a YAML parser takes seconds on a megabyte that was made for it. */
export const maxThresholdBytes = 32_768;

const statuses = ["passed", "failed", "skipped", "error", "no_impact"] as const;
type CountedStatus = (typeof statuses)[number];
const severities = ["critical", "high", "medium", "low"] as const;
const severitiesOf = (status: CountedStatus) => (status === "no_impact" ? [...severities, "none"] : severities);

/** Every key that a file may have. */
const knownKeys: ReadonlySet<string> = new Set([
  "compliance.min",
  "compliance.max",
  ...statuses.flatMap((status) => [
    `${status}.total`,
    ...["total", ...severitiesOf(status)].flatMap((level) => [`${status}.${level}.min`, `${status}.${level}.max`]),
    ...severitiesOf(status).map((level) => `${status}.${level}.controls`),
  ]),
]);

/** Throws `UsageError` naming everything that is wrong with the file. */
export function parseThresholds(text: string, file: string): readonly Threshold[] {
  const fail = refuseFile("--threshold", file);
  let content: unknown;
  try {
    // Every JSON is YAML.
    content = parseYaml(text, { logLevel: "error", maxAliasCount: 0 });
  } catch (error) {
    const [line = "unreadable"] = (error instanceof Error ? error.message : "unreadable").split("\n");
    throw fail([`it is neither YAML nor JSON: ${shorten(line.replace(/:$/, ""), 200)}`]);
  }
  if (!isJsonObject(content)) throw fail(["expected keys such as compliance.min or failed.high.max"]);
  const problems: string[] = [];
  const thresholds = flatten(content).flatMap(([key, value]) => parseEntry(key, value, problems));
  problems.push(...crossedBounds(thresholds));
  if (problems.length > 0) throw fail(problems);
  if (thresholds.length === 0)
    throw fail(["it sets no threshold: expected keys such as compliance.min or failed.high.max"]);
  return thresholds;
}

const maxDepth = 4;

/** Leaves by their dotted keys, however the file nests them. */
function flatten(object: JsonObject, prefix = ""): readonly (readonly [key: string, value: unknown])[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const key = `${prefix}${name}`;
    return isJsonObject(value) && key.split(".").length < maxDepth
      ? flatten(value, `${key}.`)
      : [[key, value] as const];
  });
}

function parseEntry(key: string, value: unknown, problems: string[]): readonly Threshold[] {
  if (!knownKeys.has(key)) {
    // Among thousands only the first are shown.
    const nearest = problems.length < 10 ? nearestName(key, [...knownKeys]) : null;
    const advice =
      nearest === null ? "expected keys such as compliance.min or failed.high.max" : `did you mean ${nearest}?`;
    problems.push(`there is no key ${JSON.stringify(shorten(key, 80))}: ${advice}`);
    return [];
  }
  const end = key.split(".").at(-1);
  if (end === "controls") {
    if (Array.isArray(value) && value.every((id) => typeof id === "string")) {
      return [{ key, bound: "controls", wanted: value }];
    }
    problems.push(`${key}: expected a list of ids, such as [V-273186]`);
    return [];
  }
  const most = key.startsWith("compliance.") ? 100 : 1_000_000;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || value > most) {
    problems.push(`${key}: expected a number from 0 to ${most}`);
    return [];
  }
  return [{ key, bound: end === "min" || end === "max" ? end : "exactly", wanted: value }];
}

function crossedBounds(thresholds: readonly Threshold[]): readonly string[] {
  const wanted = new Map(thresholds.map((threshold) => [threshold.key, threshold.wanted]));
  return thresholds.flatMap(({ key, bound, wanted: least }) => {
    const most = wanted.get(key.replace(/min$/, "max"));
    const isCrossed = bound === "min" && typeof most === "number" && typeof least === "number" && least > most;
    return isCrossed ? [`${key} ${least} is above its max ${most}`] : [];
  });
}
