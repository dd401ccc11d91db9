import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { writeWhole } from "../../command_line/files.ts";
import type { Report } from "../../shared/report.ts";
import type { Revision } from "../catalog/catalog.ts";
import type { CollectedScan } from "../evidence/artifacts_document.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { sha256 } from "../digest.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import { orgPolicySchema } from "../org_policy/read_org_policy.ts";
import type { WrittenFiles } from "../reports/write_reports.ts";
import type { Signer, Verifier } from "./keys.ts";

/** in-toto's Statement v1 (https://in-toto.io/Statement/v1) about the files of one run, in an envelope of DSSE 1.0. */

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
    v.exactOptional(v.object({ id: text, sha256: hexDigest })),
    v.description("The revision of the STIG, and the digest of its rules as scanstream holds them; a history has none"),
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

const statementSchema = v.object({
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
  /** The revision of the STIG; absent: a history, which may have results of several. */
  readonly revision?: Revision;
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
      ...(revision !== undefined && { rules: { id: revision.benchmark.id, sha256: rulesDigest(revision) } }),
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

/** The name of the signed statement about files of this name. */
export function statementName(name: string): string {
  return `${name}.intoto.json`;
}

/** `evidence` of `evidence.json`: without its last extension. */
export function stemOf(file: string): string {
  return basename(file).replace(/(?<=.)\.[^.]*$/, "");
}

/**
 * Signs the files of one run, where there is a key: one statement in each folder, called after `name` where it is the folder of the reports, else
 * after the file.
 */
export async function signFiles(
  paths: readonly string[],
  facts: StatementFacts,
  { signer, name }: { readonly signer: Signer | null; readonly name: string | null },
): Promise<WrittenFiles> {
  if (signer === null) return { files: [], problems: [] };
  const files: string[] = [];
  const problems: string[] = [];
  for (const [folder, inFolder] of Map.groupBy(paths, dirname)) {
    const [first = ""] = inFolder;
    const subjects = await Promise.all(
      inFolder.map(async (path) => ({ name: basename(path), content: await readFile(path) })),
    );
    const ofReports = inFolder.some((path) => basename(path).startsWith(`${name}.`)) ? name : null;
    const path = join(folder, statementName(ofReports ?? stemOf(first)));
    const text = signStatement(makeStatement(subjects, facts), signer);
    const problem = await writeWhole({ option: "--output", file: path }, text);
    if (problem === null) files.push(path);
    else problems.push(problem);
  }
  return { files, problems };
}

/** DSSE (https://github.com/secure-systems-lab/dsse) signs the payload type together with the payload. */
const payloadType = "application/vnd.in-toto+json";

const envelopeSchema = v.object({
  payload: v.string(),
  payloadType: v.string(),
  signatures: v.pipe(v.array(v.object({ keyid: v.optional(v.string()), sig: v.string() })), v.minLength(1)),
});

/** Why a signed file proves nothing, in one sentence. */
export class NotProven extends Error {
  override readonly name = "NotProven";
}

/** The envelope as a file. */
export function signStatement(statement: Statement, signer: Signer): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = Buffer.from(signer.sign(paeOf(payload))).toString("base64");
  const envelope = { payload: payload.toString("base64"), payloadType, signatures: [{ keyid: signer.keyId, sig }] };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

/** The bytes that are signed: the pre-authentication encoding of DSSE. */
function paeOf(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.byteLength} `), payload]);
}

/** Statement of an envelope that the key has signed. Throws `NotProven`; a key in the envelope counts for nothing. */
export function openEnvelope(text: string, verifier: Verifier): Statement {
  const envelope = read(envelopeSchema, text, "the envelope");
  if (envelope.payloadType !== payloadType) {
    throw new NotProven(
      `the payload type is ${JSON.stringify(envelope.payloadType.slice(0, 100))}: expected ${payloadType}`,
    );
  }
  const payload = fromBase64(envelope.payload, "payload");
  const pae = paeOf(payload);
  const signatures = envelope.signatures.map(({ sig }) => fromBase64(sig, "signature"));
  if (!signatures.some((one) => verifier.verify(pae, one))) {
    const others = [...new Set(envelope.signatures.map(({ keyid }) => keyid ?? "no key id"))].join(", ").slice(0, 200);
    throw new NotProven(
      `no signature is of the key ${verifier.keyId}: the envelope names ${others}; another key has signed it, or it was changed`,
    );
  }
  return read(statementSchema, payload.toString("utf8"), "the signed statement");
}

function read<Schema extends v.GenericSchema>(schema: Schema, text: string, what: string): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = parseJsonText(text, { repeatedKeys: "refuse", texts: "as_written" });
  } catch (error) {
    throw new NotProven(`${what} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new NotProven(`${what} has another form: ${v.getDotPath(issue) ?? "it"} is ${issue.received.slice(0, 80)}`);
}

/** With padding, and nothing else than its alphabet. */
function fromBase64(text: string, what: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new NotProven(`the ${what} is no base64`);
  return Buffer.from(text, "base64");
}
