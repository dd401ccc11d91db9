import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { withProductLock } from "./sbom.ts";

/**
 * `npm run vex -- --sbom sbom.cdx.json --output vex.cdx.json`: a CycloneDX VEX that answers each known vulnerability of a bundled package.
 * The vulnerabilities are what `npm audit` reports, or `--audit FILE` recorded; the answers are reviewed in `vex_answers.json`.
 */

const run = promisify(execFile);

/** CycloneDX's `analysis`; what is exploitable has to be fixed, and cannot be answered. */
export interface Answer {
  readonly package: string;
  readonly state: "not_affected" | "false_positive" | "in_triage";
  /** Required by CycloneDX's users where a package is not affected. */
  readonly justification?:
    | "code_not_present"
    | "code_not_reachable"
    | "requires_configuration"
    | "requires_dependency"
    | "requires_environment"
    | "protected_by_compiler"
    | "protected_at_runtime"
    | "protected_at_perimeter"
    | "protected_by_mitigating_control";
  /** For an approver: why. */
  readonly detail: string;
  /** The day, `2026-11-25`. */
  readonly reviewed: string;
}

export type Answers = Readonly<Record<string, Answer>>;

interface Advisory {
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly severity: string;
  readonly cwe?: readonly string[];
  readonly cvss?: { readonly score: number; readonly vectorString: string | null };
}

export interface Audit {
  readonly vulnerabilities: Readonly<Record<string, { readonly via: readonly (string | Advisory)[] }>>;
}

export interface Sbom {
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly purl?: string;
    readonly "bom-ref"?: string;
  }[];
}

interface Vex {
  readonly document: object;
  /** One sentence for each vulnerability without an answer, and for each answer without a vulnerability. */
  readonly problems: readonly string[];
}

export function createVex(
  { audit, sbom, answers }: { readonly audit: Audit; readonly sbom: Sbom; readonly answers: Answers },
  now: Date,
): Vex {
  const references = new Map(
    sbom.components.map(({ group, name, purl, "bom-ref": ref }) => [
      group === undefined ? name : `${group}/${name}`,
      purl ?? ref ?? name,
    ]),
  );
  const found = new Map<string, Advisory>();
  for (const { via } of Object.values(audit.vulnerabilities)) {
    // A text names another package of the list, which has the advisory.
    for (const each of via) if (typeof each !== "string" && references.has(each.name)) found.set(idOf(each), each);
  }
  const problems: string[] = [];
  const vulnerabilities = [...found].flatMap(([id, advisory]) => {
    const answer = answers[id];
    const what = `${id} (${advisory.severity}) in ${advisory.name}: ${advisory.title}`;
    if (answer === undefined || answer.package !== advisory.name) {
      problems.push(`${what}: expected a version without it, or an answer in tools/release/vex_answers.json`);
      return [];
    }
    if (answer.state === "not_affected" && answer.justification === undefined) {
      problems.push(`${what}: its answer lacks a justification`);
    }
    return [entryOf(id, advisory, { answer, ref: references.get(advisory.name) ?? "" })];
  });
  for (const id of Object.keys(answers)) {
    if (!found.has(id)) problems.push(`${id}: is answered, but no bundled package has it: remove the answer`);
  }
  return {
    problems,
    document: {
      $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      serialNumber: `urn:uuid:${randomUUID()}`,
      version: 1,
      metadata: {
        timestamp: now.toISOString(),
        component: {
          type: "application",
          name: packageJson.name,
          version: packageJson.version,
          "bom-ref": `pkg:npm/${packageJson.name}@${packageJson.version}`,
        },
      },
      vulnerabilities,
    },
  };
}

function entryOf(id: string, advisory: Advisory, { answer, ref }: { readonly answer: Answer; readonly ref: string }) {
  const { severity, cwe = [], cvss, url, title } = advisory;
  const score =
    cvss === undefined || cvss.vectorString === null ? {} : { score: cvss.score, vector: cvss.vectorString };
  return {
    "bom-ref": id,
    id,
    source: { name: "GitHub Advisory Database", url },
    ratings: [{ severity: severity === "moderate" ? "medium" : severity, ...score }],
    cwes: cwe.map((text) => Number(text.replace("CWE-", ""))),
    description: title,
    analysis: {
      state: answer.state,
      ...(answer.justification === undefined ? {} : { justification: answer.justification }),
      detail: answer.detail,
      lastUpdated: `${answer.reviewed}T00:00:00Z`,
    },
    affects: [{ ref }],
  };
}

function idOf({ url }: Advisory): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** `npm audit` ends with 1 where it finds something; an answer of the registry that is no report is an error. */
async function auditOfRegistry(): Promise<Audit> {
  return withProductLock(async (cwd) => {
    const { stdout } = await run("npm", ["audit", "--json", "--package-lock-only", "--omit=dev"], {
      cwd,
      maxBuffer: 1e8,
    }).catch((error: { readonly stdout: string }) => error);
    const answer = JSON.parse(stdout) as Partial<Audit> & { readonly message?: string };
    if (answer.vulnerabilities === undefined) {
      throw new Error(
        `npm audit gave no report: ${answer.message ?? "unknown"}. Record one elsewhere and pass --audit FILE`,
      );
    }
    return { vulnerabilities: answer.vulnerabilities };
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      audit: { type: "string" },
      sbom: { type: "string", default: "sbom.cdx.json" },
      output: { type: "string", default: "vex.cdx.json" },
    },
  });
  const parse = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, "utf8"));
  const audit = values.audit === undefined ? await auditOfRegistry() : ((await parse(values.audit)) as Audit);
  const sbom = (await parse(values.sbom)) as Sbom;
  const answers = (await parse(join(import.meta.dirname, "vex_answers.json"))) as Answers;
  const { document, problems } = createVex({ audit, sbom, answers }, new Date());
  await writeFile(values.output, `${JSON.stringify(document, null, 2)}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
