import { asWritten } from "./schemas.ts";
import { toJsonSchema, type JsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { manualReasonSchema, severitySchema, statusSchema, storedFindingSchema } from "../shared/schemas/finding.ts";
import { monitorEventSchemas, monitorSchema } from "../shared/schemas/monitor.ts";
import { reportDefinitions, reportSchema } from "../shared/schemas/report.ts";
import { scanEndStatusSchema, scanSchema, scanEventSchemas } from "../shared/schemas/scan.ts";
import { roleSchema, scopeSchema } from "../shared/schemas/team.ts";
import { tenantEventSchemas } from "../shared/schemas/tenant_events.ts";

/** The types of one file of `shared/schemas/`, written without the library that its source is written with. */
interface TypesFile {
  readonly types: Readonly<Record<string, GenericSchema>>;
  /** Event maps: an interface with one property for each type of event. */
  readonly maps?: Readonly<Record<string, Readonly<Record<string, GenericSchema>>>>;
  /** Named parts of other types. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Types of another file, by name. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, GenericSchema>>>>;
}

const findingTypes = {
  Status: statusSchema,
  Severity: severitySchema,
  ManualReason: manualReasonSchema,
};

const { scan, check, finding, resource, waiver, attestation, tailoring, comparison, plan, control, cause } =
  reportDefinitions;

/** Types of `shared/schemas/` that the published modules name. */
const files: Readonly<Record<string, TypesFile>> = {
  finding: { types: { ...findingTypes, StoredFinding: storedFindingSchema } },
  report: {
    imports: { "./finding.js": findingTypes },
    types: {
      Report: reportSchema,
      ScanSummary: scan,
      CheckResult: check,
      Finding: finding,
      FindingResource: resource,
      Waiver: waiver,
      Attestation: attestation,
      Tailoring: tailoring,
      Comparison: comparison,
      Plan: plan,
      ControlResult: control,
      Cause: cause,
    },
    aliases: {
      StatusCounts: 'Pick<Report["summary"], "pass" | "fail" | "manual" | "not_applicable">',
      ResolvedFinding: 'Comparison["gone"][number]',
      Milestone: 'Plan["milestones"][number]',
      Category: 'CheckResult["category"]',
      Engine: 'ScanSummary["engine"]',
      Role: 'ScanSummary["role"]',
      ScanStatus: 'ScanSummary["status"]',
      FindingChange: 'NonNullable<Finding["change"]>',
    },
  },
  team: { types: { Role: roleSchema, Scope: scopeSchema } },
  scan: {
    types: { Scan: scanSchema, ScanEndStatus: scanEndStatusSchema },
    maps: { ScanEvents: scanEventSchemas },
    aliases: {
      ScanStatus: 'Scan["status"]',
      ScanEventType: "keyof ScanEvents",
      ScanStart: 'ScanEvents["scan.start"]',
      ScanProgress: 'ScanEvents["scan.progress"]',
      FindingCreated: 'ScanEvents["finding.created"]',
      ScanError: 'ScanEvents["scan.error"]',
      ScanEnd: 'ScanEvents["scan.end"]',
    },
  },
  tenant_events: {
    types: { ScanResource: tenantEventSchemas["scan.snapshot"] },
    maps: { TenantEvents: tenantEventSchemas },
  },
  monitor: {
    types: { Monitor: monitorSchema },
    maps: { MonitorEvents: monitorEventSchemas },
    aliases: { MonitorStatus: 'Monitor["status"]' },
  },
};

/** The declaration files of the published schemas, by their names in `schemas/`. */
export function writePublishedTypes(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([name, file]) => [`${name}.d.ts`, `${writeFile(file).join("\n\n")}\n`]),
  );
}

function writeFile({ types, maps = {}, aliases = {}, imports = {} }: TypesFile): readonly string[] {
  const definitions = Object.assign({}, types, ...Object.values(imports)) as Record<string, GenericSchema>;
  const toType = (schema: GenericSchema, asNamed = true): JsonSchema => {
    const described = asWritten(toJsonSchema(schema, { errorMode: "ignore", definitions }));
    const { $ref, $defs = {} } = described;
    const name = $ref?.replace("#/$defs/", "");
    return asNamed || name === undefined ? described : toSchema($defs[name]);
  };
  return [
    ...Object.entries(imports).map(
      ([file, named]) => `import type { ${Object.keys(named).join(", ")} } from "${file}";`,
    ),
    ...Object.entries(types).map(([name, schema]) => declare(name, toType(schema, false))),
    ...Object.entries(maps).map(([name, map]) => {
      const fields = Object.entries(map).map(([type, schema]) => writeField(type, toType(schema), true));
      return `export interface ${name} {\n${indent(fields.join("\n"))}\n}`;
    }),
    ...Object.entries(aliases).map(([name, text]) => `export type ${name} = ${text};`),
  ];
}

function declare(name: string, schema: JsonSchema): string {
  const text = writeType(schema);
  const declaration = schema.properties === undefined ? `type ${name} = ${text};` : `interface ${name} ${text}`;
  return `${comment(schema)}export ${declaration}`;
}

/** A schema of JSON as a type: every property and array is read-only. */
function writeType(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace("#/$defs/", "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? (schema.properties === undefined ? schema.oneOf : undefined);
  if (choices !== undefined) return choices.map((choice) => writeType(toSchema(choice))).join(" | ");
  const { type } = schema;
  if (type === "array") return `readonly ${writeItem(toSchema(schema.items))}[]`;
  if (type === "number" || type === "integer") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type !== "object") {
    throw new TypeError(`Cannot write a type: ${JSON.stringify(schema).slice(0, 200)} is of no known kind`);
  }
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    writeField(name, toSchema(field), required.has(name)),
  );
  return `{\n${indent(fields.join("\n"))}\n}`;
}

function writeItem(schema: JsonSchema): string {
  const text = writeType(schema);
  return schema.enum === undefined && schema.anyOf === undefined ? text : `(${text})`;
}

function writeField(name: string, schema: JsonSchema, isRequired: boolean): string {
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  return `${comment(schema)}readonly ${key}${isRequired ? "" : "?"}: ${writeType(schema)};`;
}

function comment({ description }: JsonSchema): string {
  return description === undefined ? "" : `/** ${description} */\n`;
}

function toSchema(schema: unknown): JsonSchema {
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  throw new TypeError(`Cannot write a type: ${String(schema)} is not a known schema`);
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
