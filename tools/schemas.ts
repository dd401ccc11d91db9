import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { catalog } from "../scanner/catalog/catalog.ts";
import { configSchema } from "../scanner/settings/config_file.ts";
import { memberOf, type Setting } from "../scanner/settings/setting.ts";
import { table } from "../scanner/settings/table.ts";
import { summarySchema } from "../scanner/commands/summary.ts";
import { isJsonObject } from "../shared/json.ts";
import { diffSchema } from "../scanner/diff/diff_schema.ts";
import { orgPolicySchema } from "../scanner/org_policy/read_org_policy.ts";
import { predicateSchema } from "../scanner/signing/statement.ts";
import { reportDefinitions, reportSchema } from "../shared/schemas/report.ts";

/** A JSON Schema of the package, by its file `shared/<name>.schema.json`. */
interface SchemaFile {
  readonly schema: v.GenericSchema;
  readonly definitions?: Readonly<Record<string, v.GenericSchema>>;
  /** `ignore` leaves out what JSON Schema cannot say, such as names that stand once: the reader of the file checks it. */
  readonly errorMode?: "ignore" | "throw";
  readonly title: string;
  readonly description: string;
}

/** Descriptions of what the command line reads and writes. */
const schemaFiles = {
  report: {
    schema: reportSchema,
    definitions: reportDefinitions,
    title: "scanstream report, version 1.2",
    description: "One scan of an identity provider: what was asked, what was found, and on which evidence.",
  },
  diff: {
    schema: diffSchema,
    title: "scanstream diff, version 1",
    description:
      "What differs between two scans of an organization: findings, and where the evidence is there, configuration.",
  },
  summary: {
    schema: summarySchema,
    title: "scanstream summary, version 1",
    description: "What a run over several organizations found: a line for each, and what it all comes to.",
  },
  config: {
    schema: configSchema,
    errorMode: "ignore",
    title: "scanstream.config.json",
    description: "Settings and organizations of the scanner. It never holds a secret.",
  },
  org_policy: {
    schema: orgPolicySchema,
    errorMode: "ignore",
    title: "scanstream.org_policy/1",
    description: "The organization's Access Control policy for Okta as data: what an org is compared with.",
  },
  predicate: {
    schema: predicateSchema,
    errorMode: "ignore",
    title: "urn:scanstream:evidence:1",
    description: "The predicate of the in-toto statements that `--sign` writes.",
  },
} as const satisfies Readonly<Record<string, SchemaFile>>;

export type SchemaName = keyof typeof schemaFiles;
export const schemaNames = Object.keys(schemaFiles) as readonly SchemaName[];

export function describeSchema(name: SchemaName): unknown {
  const { schema, definitions = {}, errorMode = "throw", title, description }: SchemaFile = schemaFiles[name];
  const { $schema, ...described } = toJsonSchema(schema, { target: "draft-2020-12", errorMode, definitions });
  const $id = `https://scanstream.dev/schemas/${name}/1`;
  return { $schema, $id, title, description, ...(name === "report" ? asWritten(described) : described) };
}

/** A field with a default may be left out by others; what scanstream writes has each. */
export function asWritten<Value>(described: Value): Value {
  if (Array.isArray(described)) return described.map(asWritten) as Value;
  if (!isJsonObject(described)) return described;
  const { default: _default, ...rest } = described;
  const { properties, required } = rest;
  const own = isJsonObject(properties) && Array.isArray(required) ? { properties, required } : null;
  const always =
    own === null
      ? []
      : Object.entries(own.properties).filter(
          ([name, value]) => isJsonObject(value) && (own.required.includes(name) || "default" in value),
        );
  const changed = own === null ? rest : { ...rest, required: always.map(([name]) => name) };
  return Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, asWritten(value)])) as Value;
}

const cell = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(", ");

/** `docs/reference/settings.md`, from the table of settings. */
export function describeSettings(): string {
  const rows = Object.entries<Setting<unknown>>(table).map(([name, row]) => {
    const { flag, variables = [], kept, commands, help } = row;
    const members = kept === undefined ? [] : [memberOf(name, row)];
    const meaning = help.replaceAll("|", "\\|").replaceAll("<", "\\<");
    return `| ${cell(flag === null ? [] : [flag])} | ${cell(variables)} | ${cell(members)} | ${commands.join(", ")} | ${meaning} |`;
  });
  return `# Settings of the scanner

Made by \`npx node tools/schemas.ts\` from \`scanner/settings/table.ts\`. An option wins over a variable, a variable over the file, the file over the default; see [the configuration file](../quickstart.md#the-configuration-file).

| option | variables | in the file | commands | meaning |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

const roleNames = { read_only_admin: "Read-Only Administrator", super_admin: "Super Administrator" } as const;

/** `docs/reference/rules.md`, from the catalog: DISA's sentence, what a PASS rests on, and what is read for it. */
export function describeRules(): string {
  const sections = catalog.map(({ name, rule, explanation, decidingFields }) => {
    const { disa, examines, rests_on } = explanation;
    const fieldsByRequest = Map.groupBy(decidingFields, ({ request }) => request);
    const lines = [
      ...rests_on,
      ...[...fieldsByRequest].map(
        ([request, parts]) => `\`${request}\`: ${cell(parts.flatMap(({ fields }) => fields))}`,
      ),
      `Needs ${cell(rule.scopes.map((scope) => `okta.${scope}`))} as ${roleNames[rule.role]}`,
    ];
    return `## ${rule.vuln_id} · \`${name}\`\n\n${rule.title}\n\nDISA: "${disa}"\n\n${examines}\n\n${lines.map((line) => `- ${line}`).join("\n")}\n`;
  });
  return `# What each rule rests on

Made by \`npx node tools/schemas.ts\` from \`scanner/catalog/explanations.json\` and the checks. \`scanstream explain V-273195\` shows the same with DISA's texts and the steps of the fix. What holds for every rule is in [verdicts](../verdicts.md). A section without "Left to a person" leaves nothing to ask after a PASS.

${sections.join("\n")}`;
}

/** Names of the rules, for the gateway, which does not load the catalog. */
const ruleNames = catalog.map(({ name: check, rule: { vuln_id, stig_id, rule_id } }) => ({
  check,
  vuln_id,
  stig_id,
  rule_id,
}));

/** `node tools/schemas.ts` writes the schemas, names and pages that are made from the code. */
if (import.meta.main) {
  const root = `${import.meta.dirname}/..`;
  for (const name of schemaNames) {
    await writeFile(`${root}/shared/${name}.schema.json`, `${JSON.stringify(describeSchema(name), null, 2)}\n`);
  }
  await writeFile(`${root}/shared/stig_rule_names.json`, `${JSON.stringify(ruleNames, null, 2)}\n`);
  await writeFile(`${root}/docs/reference/settings.md`, describeSettings());
  await writeFile(`${root}/docs/reference/rules.md`, describeRules());
  execFileSync("node_modules/.bin/oxfmt", ["shared"], { cwd: root });
}
