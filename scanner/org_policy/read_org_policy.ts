import * as v from "valibot";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { isJsonObject } from "../../shared/json.ts";
import { issuePath, lineFinder, parseOptionJson, refuseFile } from "../decisions/option_file.ts";
import type { OrgPolicy } from "./document.ts";
import { orgPolicySchema } from "./schema.ts";

/** 100,000 apps with ten zones each. */
const maxBytes = 64 * 1_048_576;
const bounds = { maxDepth: 6, maxParts: 5_000_000, repeatedKeys: "refuse" } as const;

/** The document of `--org-policy`; null without one. Throws `UsageError` naming everything that is wrong with the file. */
export async function readOrgPolicy(source: NamedFile | null): Promise<OrgPolicy | null> {
  if (source === null) return null;
  return readOptionFile({ ...source, maxBytes }, (text) => parseOrgPolicy(text, source));
}

export function parseOrgPolicy(text: string, source: NamedFile): OrgPolicy {
  const fail = refuseFile(source);
  const content = parseOptionJson(text, bounds, fail);
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
  const policy = parsed.output as OrgPolicy;
  if (policy.expires < policy.approved_on)
    throw fail([`expires (${policy.expires}) is before approved_on (${policy.approved_on})`]);
  return policy;
}

/** `apps[3].zones_allowed[0]`. */
function placeOf(path: readonly (string | number)[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}
