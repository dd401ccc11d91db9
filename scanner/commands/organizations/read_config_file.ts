import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { findNodeAtLocation, parseTree, stripComments, type JSONPath } from "jsonc-parser";
import * as v from "valibot";
import { readOptionFile } from "../../../command_line/files.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import { parseOptionJson, refuseFile } from "../../decisions/option_file.ts";
import {
  configSchema,
  defaultsMembers,
  organizationMembers,
  topMembers,
  type ConfigContent,
  type OrganizationConfig,
} from "./config_schema.ts";
import { findSecrets } from "./config_secrets.ts";
import { explainBrokenJson, lineAndColumn, placedValues, toPointer } from "./config_text.ts";

export const configFileName = "scanstream.config.json";
/** Hundreds of organizations with long lists. */
const maxConfigBytes = 1_048_576;
const bounds = { maxDepth: 6, maxParts: 20_000, repeatedKeys: "refuse", texts: "as_written" } as const;

export interface ConfigFile extends ConfigContent {
  readonly file: string;
}

/** The file that `--config` names, or the one of the working directory; null when none exists, or with `--no-config`. */
export async function findConfigFile(flag: string | boolean | undefined): Promise<string | null> {
  if (flag === false) return null;
  if (typeof flag === "string") return flag;
  const isThere = await stat(configFileName).then(
    (entry) => entry.isFile() || entry.isFIFO(),
    () => false,
  );
  return isThere ? configFileName : null;
}

/** Throws `UsageError` naming everything that is wrong with it, and where. */
export function readConfigFile(file: string): Promise<ConfigFile> {
  return readOptionFile({ option: "--config", file, maxBytes: maxConfigBytes }, parseConfigFile);
}

/** The organizations of the working directory's file, for completion; none where it cannot be read. */
export async function organizationNames(): Promise<readonly string[]> {
  const file = await findConfigFile(undefined);
  const config = file === null ? null : await readConfigFile(file).catch(() => null);
  return (config?.organizations ?? []).map(({ name }) => name);
}

/** Its paths are the ones that the file names, relative to its own folder. Comments are allowed. */
export function parseConfigFile(written: string, file: string): ConfigFile {
  // Blanks take their place, so that the lines of messages stay those of the file.
  const text = stripComments(written, " ");
  const fail = refuseFile("--config", file);
  const content = parseOptionJson(text, bounds, (problems) => {
    const broken = explainBrokenJson(text);
    return fail(broken === null ? problems : [`it is not JSON: ${broken}`]);
  });
  if (Array.isArray(content)) throw fail(["the file: expected an object"]);
  const secrets = findSecrets(placedValues(text));
  if (secrets.length > 0) {
    throw fail(
      [...new Set(secrets.map(({ pointer }) => pointer))].map(
        (pointer) =>
          `${pointer}: this file must not contain a secret: expected private_key_file, or private_key_env with the name of a variable; the key of a gateway belongs in SCANSTREAM_API_KEY`,
      ),
    );
  }
  const parsed = v.safeParse(configSchema, content);
  if (!parsed.success) {
    const root = parseTree(text);
    const place = (path: JSONPath) => {
      const node = root === undefined ? undefined : findNodeAtLocation(root, path);
      // A member stands where its name does.
      const offset = node?.parent?.type === "property" ? node.parent.offset : node?.offset;
      const where = path.length === 0 ? "the file" : toPointer(path);
      return offset === undefined ? where : `${where} ${lineAndColumn(text, offset)}`;
    };
    throw fail(parsed.issues.map((issue) => explainIssue(issue, place)));
  }
  const config = parsed.output;
  const problems = repeatedNames(config.organizations ?? []);
  if (problems.length > 0) throw fail(problems);
  const resolve = withPathsOf(dirname(file));
  return {
    file,
    ...config,
    ...(config.defaults === undefined ? {} : { defaults: resolve(config.defaults) }),
    ...(config.organizations === undefined ? {} : { organizations: config.organizations.map(resolve) }),
  };
}

function explainIssue(issue: v.BaseIssue<unknown>, place: (path: JSONPath) => string): string {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  const name = path.at(-1);
  if (issue.expected === "never" && typeof name === "string") {
    const members = path.length === 1 ? topMembers : path[0] === "defaults" ? defaultsMembers : organizationMembers;
    const nearest = nearestName(name, members);
    const advice =
      nearest === null ? `expected one of ${members.join(", ")}` : `did you mean ${JSON.stringify(nearest)}?`;
    return `${place(path)}: unknown key; ${advice}`;
  }
  if (issue.received === "undefined") return `${place(path.slice(0, -1))}: ${JSON.stringify(name)} is required`;
  return `${place(path)}: ${issue.type === "strict_object" ? "expected an object" : issue.message}`;
}

/** Two folders whose names differ in case only are one folder on some systems. */
function repeatedNames(organizations: readonly OrganizationConfig[]): readonly string[] {
  const names = organizations.map(({ name }) => name.toLowerCase());
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [`/organizations/${index}/name: ${JSON.stringify(organizations[index]?.name)} is given twice`],
  );
}

const pathMembers: ReadonlySet<string> = new Set([
  "private_key_file",
  "output",
  "benchmark",
  "parameters",
  "waivers",
  "attestations",
  "checklist",
  "baseline",
  "save_artifacts",
]);

function withPathsOf(folder: string): <Members extends object>(members: Members) => Members {
  return (members) => {
    const entries = Object.entries(members).map(([name, value]: [string, unknown]) => {
      const isPath = pathMembers.has(name) && typeof value === "string" && !isAbsolute(value);
      return [name, isPath ? join(folder, value) : value];
    });
    return Object.fromEntries(entries) as typeof members;
  };
}
