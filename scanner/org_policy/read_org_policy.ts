import * as v from "valibot";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { isJsonObject } from "../../shared/json.ts";
import { issuePath, lineFinder, parseOptionJson, refuseFile } from "../decisions/option_file.ts";
import { catalog, type CatalogCheck } from "../catalog/catalog.ts";
import type { OrgPolicy } from "./document.ts";
import { orgPolicySchemaOf } from "./schema.ts";

export const orgPolicySchema = orgPolicySchemaOf(catalog.flatMap(({ parameters }) => parameters));

/** 100,000 apps with ten zones each. */
const maxBytes = 64 * 1_048_576;

export interface Expected {
  /** Null: it is not known yet. */
  readonly orgUrl: string | null;
  /** Checks of the chosen revision of the STIG. */
  readonly checks: readonly CatalogCheck[];
}

/**
 * The document of `--org-policy`; null without one. Throws `UsageError` naming everything that is wrong with the file, also for
 * one of another org, and for a limit that no check reads.
 */
export async function readOrgPolicy(source: NamedFile | null, { orgUrl, checks }: Expected): Promise<OrgPolicy | null> {
  if (source === null) return null;
  const policy = await readOptionFile({ ...source, maxBytes }, (text) => parseOrgPolicy(text, source));
  const fail = refuseFile(source);
  if (orgUrl !== null && new URL(orgUrl).origin !== policy.org_url)
    throw fail([`org_url: it is about ${policy.org_url}, and this run about ${new URL(orgUrl).origin}`]);
  const read = new Set(checks.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  const unread = Object.keys(policy.limits ?? {}).filter((name) => !read.has(name));
  if (unread.length === 0) return policy;
  throw fail([
    `limits: no check of the chosen revision of the STIG reads ${unread.join(", ")}: its rule is worded otherwise there, and a person answers it`,
  ]);
}

export function parseOrgPolicy(text: string, source: NamedFile): OrgPolicy {
  const fail = refuseFile(source);
  const content = parseOptionJson(text, "provider", fail);
  if (isJsonObject(content) && content["approved_by"] === "") {
    throw fail(["approved_by is empty: a person has to read the document and put their name there"]);
  }
  const parsed = v.safeParse(orgPolicySchema, content);
  if (!parsed.success) {
    const lineOf = lineFinder(text);
    throw fail(
      parsed.issues.map((issue) => {
        const path = issuePath(issue);
        const place = path.length === 0 ? "it" : placeOf(path);
        return `${lineOf(path)}${place}: ${issue.message}`;
      }),
    );
  }
  const policy = parsed.output;
  if (policy.expires < policy.approved_on)
    throw fail([`expires (${policy.expires}) is before approved_on (${policy.approved_on})`]);
  return policy;
}

/** `apps[3].zones_allowed[0]`. */
function placeOf(path: readonly (string | number)[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}
