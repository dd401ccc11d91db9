import * as v from "valibot";
import type { Report } from "../../shared/report.ts";
import type { Revision } from "../catalog/catalog.ts";
import type { CollectedScan } from "../evidence/artifacts_document.ts";
import { sha256 } from "../digest.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import { orgPolicySchema } from "../org_policy/read_org_policy.ts";

/** in-toto's Statement v1 (https://in-toto.io/Statement/v1) about the files of one run. */

const predicateType = "urn:scanstream:evidence:1";

const text = v.string();
const hexDigest = v.pipe(text, v.regex(/^[0-9a-f]{64}$/));
const digest = v.object({ sha256: hexDigest });

/** Claims about the files; `predicate.schema.json` is made from it. */
export const predicateSchema = v.object({
  org_url: text,
  other_org_urls: v.pipe(
    v.exactOptional(v.array(text)),
    v.description("A history may be about several organizations: those after the first"),
  ),
  rules: v.pipe(
    v.object({ id: text, sha256: hexDigest }),
    v.description("The revision of the STIG, and the digest of its rules as scanstream holds them"),
  ),
  scanner: v.object({ name: v.literal("scanstream"), version: text }),
  started_at: text,
  ended_at: text,
  summary: v.pipe(v.nullable(v.record(text, v.number())), v.description("Counts of rules; null: nothing was judged")),
  evidence: v.pipe(
    v.nullable(digest),
    v.description("Of the evidence that was judged, whether it is a subject or not"),
  ),
  judging: v.object({
    org_policy: v.pipe(
      v.nullable(orgPolicySchema),
      v.description("The organization's own document, whole, so that the results can be given again; null: none"),
    ),
  }),
});

export const statementSchema = v.object({
  _type: v.literal("https://in-toto.io/Statement/v1"),
  subject: v.pipe(v.array(v.object({ name: text, digest })), v.minLength(1)),
  predicateType: v.literal(predicateType),
  predicate: predicateSchema,
});

export type Statement = v.InferOutput<typeof statementSchema>;
export type Predicate = v.InferOutput<typeof predicateSchema>;

export interface StatementFacts {
  readonly scan: Pick<CollectedScan, "org_url" | "started_at" | "ended_at">;
  /** The organizations after the first, which `scan` names. */
  readonly otherOrgs?: readonly string[];
  /** The revision of the STIG. */
  readonly revision: Revision;
  readonly toolVersion: string;
  /** Absent: nothing was judged. */
  readonly report?: Pick<Report, "summary">;
  /** SHA-256 of the evidence in hex; null: it is not known. */
  readonly evidence?: string | null;
  readonly orgPolicy?: OrgPolicy | null;
}

export function makeStatement(
  subjects: readonly { readonly name: string; readonly content: Uint8Array | string }[],
  facts: StatementFacts,
): Statement {
  const { scan, revision, report, evidence = null, toolVersion, orgPolicy = null, otherOrgs = [] } = facts;
  const sorted = subjects.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: sorted.map(({ name, content }) => ({ name, digest: { sha256: sha256(content) } })),
    predicateType,
    predicate: {
      org_url: scan.org_url,
      ...(otherOrgs.length > 0 && { other_org_urls: [...otherOrgs] }),
      rules: { id: revision.benchmark.id, sha256: rulesDigest(revision) },
      scanner: { name: "scanstream", version: toolVersion },
      started_at: scan.started_at,
      ended_at: scan.ended_at,
      summary: report === undefined ? null : { ...report.summary },
      evidence: evidence === null ? null : { sha256: evidence },
      judging: {
        org_policy: orgPolicy === null ? null : (structuredClone(orgPolicy) as Predicate["judging"]["org_policy"]),
      },
    },
  };
}

/** The digest of the rules' texts, so that a verdict is bound to what DISA asked for. */
export function rulesDigest({ checks }: Revision): string {
  return sha256(JSON.stringify(checks.map(({ rule }) => rule)));
}
