import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { isJsonObject } from "../../shared/json.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { catalog, type CatalogCheck } from "../catalog/catalog.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import type { Parameter, ParameterValue, ParameterValues } from "../checks/parameter.ts";
import { parseOptionJson, refuseFile } from "./option_file.ts";

const maxParametersBytes = 1_048_576;
const bounds = { maxDepth: 4, maxParts: 200, repeatedKeys: "refuse" } as const;
/** In addition to the known ones: the first few that are misspelt are named. */
const maxProblems = 10;
const maxItems = 50;
const maxItemLength = 500;

/** Every parameter of the catalog's checks, each once. */
export const knownParameters: ReadonlyMap<string, Parameter> = new Map(
  catalog.flatMap(({ parameters }) => parameters).map((parameter) => [parameter.name, parameter]),
);

/** The organization's values of `--parameters`; empty without a file. Throws `UsageError`, also for a value that no check reads. */
export async function readParameters(
  source: NamedFile | null,
  approved: { readonly issuers: readonly string[] | null; readonly name: string } | null,
  checks: readonly CatalogCheck[] = catalog,
): Promise<ParameterValues> {
  if (source === null) return {};
  const values = await readOptionFile({ ...source, maxBytes: maxParametersBytes }, (text) =>
    parseParameters(text, source),
  );
  if (approved !== null && approved.issuers !== null && Object.hasOwn(values, "approved_issuers")) {
    throw new UsageError([`${source.option} sets approved_issuers, and so does ${approved.name}: give one of them`]);
  }
  const read = new Set(checks.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  const unread = Object.keys(values).filter((name) => !read.has(name));
  if (unread.length > 0) {
    throw new UsageError([
      `${source.option} sets ${unread.join(", ")}, which no check of the chosen revision of the STIG reads: its rule is worded otherwise there, and a person answers it`,
    ]);
  }
  return values;
}

/** Throws `UsageError` naming everything that is wrong with the file. */
export function parseParameters(text: string, source: NamedFile): ParameterValues {
  const fail = refuseFile(source);
  const content = parseOptionJson(text, bounds, fail);
  const values: unknown = isJsonObject(content) ? content["parameters"] : null;
  if (!isJsonObject(content) || !isJsonObject(values)) throw fail(['expected an object {"parameters": {…}}']);
  const others = Object.keys(content).filter((key) => key !== "parameters");
  const problems = others.map((key) => `there is no key ${JSON.stringify(key)}: expected "parameters" alone`);
  const entries = Object.entries(values);
  if (entries.length > knownParameters.size + maxProblems)
    throw fail([`it sets ${entries.length} values: expected ${knownParameters.size} at most`]);
  for (const [name, value] of entries) {
    const problem = problemOf(name, value);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw fail(problems);
  // Each was found to be a number, or a list of texts.
  return Object.fromEntries(entries) as Record<string, ParameterValue>;
}

function problemOf(name: string, value: unknown): string | null {
  const parameter = knownParameters.get(name);
  if (parameter === undefined) {
    const names = [...knownParameters.keys()];
    const nearest = nearestName(name, names);
    const advice = nearest === null ? `expected one of ${names.join(", ")}` : `did you mean ${nearest}?`;
    return `there is no parameter ${JSON.stringify(name.slice(0, 80))}: ${advice}`;
  }
  if (parameter.kind === "number") {
    const isValid = typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= parameter.most;
    return isValid ? null : `${name}: expected a whole number of ${parameter.unit} from 1 to ${parameter.most}`;
  }
  const isList = Array.isArray(value) && value.length > 0 && value.length <= maxItems;
  const isValid = isList && value.every((item) => typeof item === "string" && isItem(item));
  return isValid
    ? null
    : `${name}: expected a list of 1 to ${maxItems} ${parameter.unit}, such as ${JSON.stringify(parameter.stigValue)}`;
}

function isItem(text: string): boolean {
  return text.length <= maxItemLength && /^[A-Za-z]+ ?= ?[^=]/.test(text);
}
