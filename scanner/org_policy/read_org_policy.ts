import * as v from "valibot";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { isJsonObject } from "../../shared/json.ts";
import { followFile, issuePath, lineFinder, placeOf } from "../decisions/option_file.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { catalog, type CatalogCheck } from "../catalog/catalog.ts";
import { sha256 } from "../digest.ts";
import { citationOf, ownValues, type OrgPolicy } from "./document.ts";
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
export async function readOrgPolicy(source: NamedFile | null, expected: Expected): Promise<OrgPolicy | null> {
  if (source === null) return null;
  return readOptionFile({ ...source, maxBytes }, (text) => requireFitting(parseOrgPolicy(text), expected));
}

function requireFitting(policy: OrgPolicy, { orgUrl, checks }: Expected): OrgPolicy {
  if (orgUrl !== null && new URL(orgUrl).origin !== policy.org_url)
    throw new ContentError([`org_url: it is about ${policy.org_url}, and this run about ${new URL(orgUrl).origin}`]);
  const read = new Set(checks.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  const unread = Object.keys(policy.limits ?? {}).filter((name) => !read.has(name));
  if (unread.length === 0) return policy;
  throw new ContentError([
    `limits: no check of the chosen revision of the STIG reads ${unread.join(", ")}: its rule is worded otherwise there, and a person answers it`,
  ]);
}

export function parseOrgPolicy(text: string): OrgPolicy {
  const content = parseJsonText(text, { repeatedKeys: "refuse" });
  if (isJsonObject(content) && content["approved_by"] === "") {
    throw new ContentError(["approved_by is empty: a person has to read the document and put their name there"]);
  }
  const parsed = v.safeParse(orgPolicySchema, content);
  if (!parsed.success) {
    const lineOf = lineFinder(text);
    throw new ContentError(
      parsed.issues.map((issue) => {
        const path = issuePath(issue);
        const place = path.length === 0 ? "it" : placeOf(path);
        return `${lineOf(path)}${place}: ${issue.message}`;
      }),
    );
  }
  const policy = parsed.output;
  if (policy.expires < policy.approved_on)
    throw new ContentError([`expires (${policy.expires}) is before approved_on (${policy.approved_on})`]);
  return policy;
}

/** The organization's document while an org is followed: another version of it is seen, and so is its end. */
export type FollowedOrgPolicy = Awaited<ReturnType<typeof followOrgPolicy>>;

export function followOrgPolicy(source: NamedFile | null, expected: Expected, say: (text: string) => void) {
  return followFile(
    source,
    () => readOrgPolicy(source, expected),
    (problem) => say(`${problem}. The document that was read before stays in force`),
  );
}

/** The document that decides at present: it begins and ends on a day, and another version may take its place. */
export function decidingOrgPolicy(followed: FollowedOrgPolicy, saved: string | null, say: (text: string) => void) {
  let digest = saved;
  return {
    /** Returns the digest of the document that the results rest on; null without one. */
    digest: () => digest,
    /** True when another document decides than at the call before, after a message. */
    isOther(nowMs: number): boolean {
      const policy = followed.current();
      const { orgPolicy } = ownValues(policy, new Date(nowMs).toISOString());
      const now = orgPolicy === undefined ? null : sha256(JSON.stringify(orgPolicy));
      if (now === digest) return false;
      digest = now;
      say(orgPolicy === undefined ? noneText(policy) : `${citationOf(orgPolicy)} decides from now on`);
      return true;
    },
  };
}

function noneText(policy: OrgPolicy | null): string {
  const none = "No document of the organization decides any more";
  if (policy === null) return none;
  return `${none}: ${citationOf(policy)} is in force from ${policy.approved_on} to ${policy.expires}`;
}
