import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { stripComments, type JSONPath } from "jsonc-parser";
import * as v from "valibot";
import { readOptionFile } from "../../command_line/files.ts";
import { adviceFor } from "../../shared/nearest_name.ts";
import { issuePath, lineFinder } from "../decisions/option_file.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { lastRun } from "../runs/kept_runs.ts";
import { memberOf, type Raw, type Setting } from "./setting.ts";
import { table } from "./table.ts";
import { isSameOrg } from "./values.ts";

export const configFileName = "scanstream.config.json";
/** Hundreds of organizations with long lists. */
export const maxConfigBytes = 1_048_576;

/** Settings of the file by their names there. Paths are relative to the working directory. */
export type Members = Readonly<Record<string, Raw>>;

export type Organization = Members & { readonly name: string };

export interface ConfigFile {
  readonly file: string;
  /** The settings beside the list. */
  readonly top: Members;
  readonly defaults: Members;
  /** Null: the file lists none. */
  readonly organizations: readonly Organization[] | null;
}

const noSecret =
  "this file must not contain a secret: expected private_key_file, or private_key_env with the name of a variable; the key of a gateway belongs in SCANSTREAM_API_KEY";
const secretNames =
  /^(?:(?:idp_)?private_?key|.*api_?key|(?:client_?)?secret|.*password|(?:access_?|api_?|bearer_?)?token|jwk|jwks|pem)$/i;
/** Keys in PEM, its base64 and JWK, keys of a gateway, JWTs, API tokens of Okta, and headers. */
const secretForms =
  /^\s*(?:LS0tLS1CRUdJTi|scs_[0-9a-f]{8}_|ey[\w-]+\.[\w-]+\.|00[\w-]{40}\s*$|(?:Bearer|Api-Key|SSWS) )|-----BEGIN [A-Z ]*PRIVATE KEY|"d"\s*:\s*"/;

/** Refuses a secret: it would be in a repository, in backups, and in what the file is copied to. */
const textSchema = v.pipe(
  v.string("expected a text"),
  v.nonEmpty("must not be empty"),
  v.check((text) => !secretForms.test(text), noSecret),
);
const forms = {
  text: textSchema,
  path: textSchema,
  list: v.union([textSchema, v.array(textSchema)], "expected a text, or a list of texts"),
  number: v.number("expected a number"),
  switch: v.boolean("expected true or false"),
};

const kept = Object.entries<Setting<unknown>>(table).flatMap(([name, row]) =>
  row.kept === undefined ? [] : [{ ...row, member: memberOf(name, row) }],
);
const pathMembers = new Set(kept.filter(({ form }) => form === "path").map(({ member }) => member));

function entriesOf(...places: readonly Setting<unknown>["kept"][]) {
  const entries = kept
    .filter((row) => places.includes(row.kept))
    .map(({ member, form, help, fallback }) => {
      const more = form === "path" ? ". The path is relative to this file" : "";
      // A switch that is on by default has the help of the option that turns it off.
      const text = `${form === "switch" && fallback === true ? "false: " : ""}${help}${more}`;
      return [member, v.exactOptional(v.pipe(forms[form] as v.GenericSchema<Raw>, v.description(text)))] as const;
    });
  return Object.fromEntries(entries);
}

const defaultsSchema = v.strictObject(entriesOf("everywhere"));
const organizationSchema = v.strictObject({
  name: v.pipe(
    textSchema,
    v.regex(
      /^(?![Ss]ummary\.)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "expected a name for a folder: at most 64 letters, figures, dots, hyphens and underscores",
    ),
    v.description("Names its folder below `output`, and `--org`"),
  ),
  ...entriesOf("everywhere", "organization"),
});
export const configSchema = v.strictObject({
  $schema: v.exactOptional(textSchema),
  defaults: v.exactOptional(v.pipe(defaultsSchema, v.description("For every organization, or for the only one"))),
  ...entriesOf("top"),
  organizations: v.exactOptional(
    v.pipe(
      v.array(organizationSchema, "expected a list"),
      v.minLength(1, "expected at least one organization"),
      v.maxLength(500, "expected 500 organizations at most"),
    ),
  ),
});

/** The output of the schema, whose settings come from the table. */
interface Content {
  readonly $schema?: string;
  readonly defaults?: Members;
  readonly organizations?: readonly Organization[];
}

/**
 * Opens the file that `--config` names, or the one of the working directory; null when none exists, or with `--no-config`. Throws
 * `UsageError` naming everything that is wrong with it, and where.
 */
export async function openConfigFile(flag: unknown): Promise<ConfigFile | null> {
  if (flag === false || (typeof flag !== "string" && !existsSync(configFileName))) return null;
  const file = typeof flag === "string" ? flag : configFileName;
  return readOptionFile({ option: "--config", file, maxBytes: maxConfigBytes }, (text) => parseConfigFile(text, file));
}

/** Returns true for members that name the organization with this address. */
export function isAbout({ org_url: address }: Members, orgUrl: string): boolean {
  return typeof address === "string" && isSameOrg(address, orgUrl);
}

/** Comments are allowed. `file`: paths in it begin at its folder. Throws `ContentError`. */
export function parseConfigFile(written: string, file: string): ConfigFile {
  // Blanks take their place, so that the lines of messages stay those of the file.
  const text = stripComments(written, " ");
  const content = parseJsonText(text, { repeatedKeys: "refuse", texts: "as_written" });
  if (Array.isArray(content)) throw new ContentError(["the file: expected an object"]);
  const parsed = v.safeParse(configSchema, content);
  if (!parsed.success) {
    const lineOf = lineFinder(text);
    const problems = parsed.issues.map((issue) => `${lineOf(issuePath(issue))}${explainIssue(issue)}`);
    // Only the first problems are shown, and these are the worst.
    throw new ContentError(problems.sort((one, other) => Number(isOfSecret(other)) - Number(isOfSecret(one))));
  }
  const { $schema: _, defaults = {}, organizations, ...top }: Content = parsed.output as Content;
  const list = organizations ?? [];
  // Two folders whose names differ in case only are one folder on some systems.
  const folders = list.map(({ name }) => name.toLowerCase());
  const repeated = list.flatMap(({ name }, index) => {
    const isFirst = folders.indexOf(name.toLowerCase()) === index;
    return isFirst ? [] : [`/organizations/${index}/name: ${JSON.stringify(name)} is given twice`];
  });
  if (repeated.length > 0) throw new ContentError(repeated);
  const folder = dirname(file);
  const listed = organizations?.map((each) => withPathsOf(each, folder)) ?? null;
  return { file, top, defaults: withPathsOf(defaults, folder), organizations: listed };
}

function isOfSecret(problem: string): boolean {
  return problem.endsWith(noSecret);
}

/** Returns true for the form of a secret, and for what holds one or a member with the name of one. */
function holdsSecret(value: unknown): boolean {
  if (typeof value === "string") return secretForms.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => secretNames.test(name) || holdsSecret(inner));
}

function explainIssue(issue: v.BaseIssue<unknown>): string {
  const path = issuePath(issue);
  const name = path.at(-1);
  // A secret is refused as one also where it stands under an unknown key, or in place of a number.
  if (holdsSecret(issue.path?.at(-1)?.value ?? issue.input)) return `${toPointer(path)}: ${noSecret}`;
  if (issue.expected === "never" && typeof name === "string") {
    const schema = path.length === 1 ? configSchema : path[0] === "defaults" ? defaultsSchema : organizationSchema;
    const unknown = `unknown key; ${adviceFor(name, Object.keys(schema.entries))}`;
    return `${toPointer(path)}: ${secretNames.test(name) ? noSecret : unknown}`;
  }
  if (issue.received === "undefined") return `${toPointer(path.slice(0, -1))}: ${JSON.stringify(name)} is required`;
  return `${toPointer(path)}: ${issue.type === "strict_object" ? "expected an object" : issue.message}`;
}

function withPathsOf<Given extends Members>(members: Given, folder: string): Given {
  const entries = Object.entries(members).map(([name, value]) => {
    const isPath = pathMembers.has(name) && typeof value === "string" && !isAbsolute(value) && value !== lastRun;
    return [name, isPath ? join(folder, value) : value];
  });
  return Object.fromEntries(entries) as Given;
}

function toPointer(path: JSONPath): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
