import { createHash, randomUUID } from "node:crypto";
import { open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { makeDirectory, readText } from "../../command_line/files.ts";
import { hasCode } from "../../shared/error_code.ts";
import { isJsonObject } from "../../shared/json.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { SavedAnswers } from "../evidence/remembered_answers.ts";
import type { ChangeLine, KnownFinding } from "./changes.ts";
import type { SavedLines } from "./change_outbox.ts";

/** State of a follower, whole after each of its rounds. */
export interface FollowState extends SavedLines {
  readonly orgUrl: string;
  /** The monitor's UUID: the same directory is the same monitor. */
  readonly monitorId: string;
  /** Path and query of the log's next page; null: the log has not been read. */
  readonly cursor: string | null;
  /** ISO 8601, UTC: when the log was last read to its end. */
  readonly lastLookAt: string | null;
  readonly lastFullAt: string;
  /** The revision of the STIG by which they were judged. */
  readonly benchmark: string;
  /** Names the document by which they were judged, as `decidingDigest` does; null: none. */
  readonly orgPolicy: string | null;
  readonly checks: readonly string[];
  /** Identities of log entries that were read. */
  readonly seen: readonly string[];
  readonly evidence: FollowEvidence;
}

/** The large part, in its own file: it is written only when it is another object than before. */
export interface FollowEvidence {
  readonly answers: SavedAnswers;
  readonly findings: readonly KnownFinding[];
}

export interface FollowStore {
  /** Null where none exists that can be used; `say` hears why. Throws `UsageError` for the state of another org. */
  load(orgUrl: string, say: (text: string) => void): Promise<FollowState | null>;
  save(state: FollowState): Promise<void>;
  /** False while the last `save` failed. */
  isSaved(): boolean;
}

const schema = "scanstream.follow/1";
const stateFile = "state.json";
const maxStateBytes = 256 * 1_048_576;

/**
 * Keeps the state in a directory. `state.json` is replaced by a rename and names the evidence file with its digest, so
 * that the process may be killed at any instant: either all of a round is there, or all of the one before.
 */
export function createFollowStore(directory: string): FollowStore {
  let written: { readonly evidence: FollowEvidence; readonly reference: EvidenceReference } | null = null;
  let isSaved = true;
  return { load, save, isSaved: () => isSaved };

  async function load(orgUrl: string, say: (text: string) => void): Promise<FollowState | null> {
    const text = await readText(join(directory, stateFile), maxStateBytes).catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return null;
      if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ENOTDIR")) throw error;
      return "";
    });
    if (text === null) return null;
    const parsed = parseState(text);
    const evidence = parsed === null ? null : await readEvidence(parsed.evidence);
    if (parsed === null || evidence === null) {
      say(`The state in ${JSON.stringify(directory)} is damaged, or of another version: beginning with a new one`);
      return null;
    }
    if (parsed.org_url !== orgUrl) {
      throw new UsageError([
        `--state ${JSON.stringify(directory)} has the state of ${parsed.org_url}, not of ${orgUrl}: give each org a directory, or leave --state out`,
      ]);
    }
    written = { evidence, reference: parsed.evidence };
    return {
      orgUrl,
      monitorId: parsed.monitor_id,
      cursor: parsed.cursor,
      lastLookAt: parsed.last_look_at,
      lastFullAt: parsed.last_full_at,
      benchmark: parsed.benchmark,
      orgPolicy: parsed.org_policy,
      checks: parsed.checks,
      seen: parsed.seen,
      // As written by this program: the digest of the file says so.
      pending: parsed.pending as unknown as readonly ChangeLine[],
      unwritten: parsed.unwritten,
      evidence,
    };
  }

  async function save(state: FollowState): Promise<void> {
    isSaved = false;
    await makeDirectory(directory, 0o700);
    const isNew = written === null || written.evidence !== state.evidence;
    const reference = written === null || isNew ? await writeEvidence(state.evidence) : written.reference;
    const body = JSON.stringify({
      schema,
      org_url: state.orgUrl,
      monitor_id: state.monitorId,
      cursor: state.cursor,
      last_look_at: state.lastLookAt,
      last_full_at: state.lastFullAt,
      benchmark: state.benchmark,
      org_policy: state.orgPolicy,
      checks: state.checks,
      seen: state.seen,
      pending: state.pending,
      unwritten: state.unwritten,
      evidence: reference,
    });
    await replace(join(directory, stateFile), `${JSON.stringify({ digest: digestOf(body) })}\n${body}\n`);
    written = { evidence: state.evidence, reference };
    isSaved = true;
    if (isNew) await removeOthers(reference.file);
  }

  async function writeEvidence(evidence: FollowEvidence): Promise<EvidenceReference> {
    const text = JSON.stringify(evidence);
    const file = `evidence-${randomUUID()}.json`;
    await replace(join(directory, file), text);
    return { file, digest: digestOf(text) };
  }

  async function readEvidence({ file, digest }: EvidenceReference): Promise<FollowEvidence | null> {
    try {
      const text = await readText(join(directory, file), maxStateBytes);
      return digestOf(text) === digest ? (JSON.parse(text) as FollowEvidence) : null;
    } catch {
      return null;
    }
  }

  /** Written whole and on the disk before it has its name. */
  async function replace(path: string, text: string): Promise<void> {
    const temporary = join(directory, `.writing-${randomUUID()}`);
    try {
      await withFile(await open(temporary, "wx", 0o600), async (file) => {
        await file.writeFile(text);
        await file.sync();
      });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    // The rename too. A system that cannot sync a directory keeps it anyway, a moment later.
    await withFile(await open(directory, "r"), (file) => file.sync()).catch(() => undefined);
  }

  /** Removes the files that a killed process left. */
  async function removeOthers(kept: string): Promise<void> {
    const names = await readdir(directory).catch(() => []);
    const old = names.filter((name) => name !== kept && /^(?:evidence-|\.writing-)[\w.-]+$/.test(name));
    await Promise.all(old.map((name) => rm(join(directory, name), { force: true }).catch(() => undefined)));
  }
}

async function withFile(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

interface EvidenceReference {
  readonly file: string;
  readonly digest: string;
}

const time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
);
const stateSchema = v.object({
  schema: v.literal(schema),
  org_url: v.string(),
  monitor_id: v.pipe(v.string(), v.uuid()),
  cursor: v.nullable(v.pipe(v.string(), v.startsWith("/api/v1/logs?"))),
  last_look_at: v.nullable(time),
  last_full_at: time,
  benchmark: v.string(),
  org_policy: v.nullable(v.string()),
  checks: v.array(v.string()),
  seen: v.array(v.string()),
  pending: v.array(v.looseObject({ schema: v.literal("scanstream.change/1"), id: v.string() })),
  unwritten: v.pipe(v.number(), v.integer(), v.minValue(0)),
  evidence: v.object({ file: v.pipe(v.string(), v.regex(/^evidence-[0-9a-f-]+\.json$/)), digest: v.string() }),
});

/** Null for what is no state of this version. */
function parseState(text: string): v.InferOutput<typeof stateSchema> | null {
  try {
    const end = text.indexOf("\n");
    const head: unknown = JSON.parse(text.slice(0, end));
    const body = text.slice(end + 1).trimEnd();
    if (!isJsonObject(head) || head["digest"] !== digestOf(body)) return null;
    const result = v.safeParse(stateSchema, JSON.parse(body));
    return result.success ? result.output : null;
  } catch {
    return null;
  }
}
