import { join } from "node:path";
import * as v from "valibot";
import { makeDirectory, readText, writeWhole } from "../../command_line/files.ts";
import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { SavedAnswers } from "../evidence/remembered_answers.ts";
import type { ChangeLine, KnownFinding } from "./changes.ts";

/** State of a follower, whole after each of its rounds. */
export interface FollowState {
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
  readonly answers: SavedAnswers;
  readonly findings: readonly KnownFinding[];
  /** Written lines that the gateway may not have, oldest first. */
  readonly pending: readonly ChangeLine[];
  /** Lines that may not be written, oldest first. */
  readonly unwritten: readonly ChangeLine[];
}

export interface FollowStore {
  /** Null where none exists that can be used; `say` hears why. Throws `UsageError` for the state of another org. */
  load(orgUrl: string, say: (text: string) => void): Promise<FollowState | null>;
  save(state: FollowState): Promise<void>;
  /** False while the last `save` failed. */
  isSaved(): boolean;
}

const stateFile = "state.json";
const maxStateBytes = 256 * 1_048_576;

/** Keeps the state in one file of a directory. The file is replaced whole, so that the process may be killed at any instant. */
export function createFollowStore(directory: string): FollowStore {
  const path = join(directory, stateFile);
  let isSaved = true;
  return { load, save, isSaved: () => isSaved };

  async function load(orgUrl: string, say: (text: string) => void): Promise<FollowState | null> {
    const text = await readText(path, maxStateBytes).catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return null;
      if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ENOTDIR")) throw error;
      return "";
    });
    if (text === null) return null;
    const state = parseState(text);
    if (state === null) {
      say(`The state in ${JSON.stringify(directory)} is damaged, or of another version: beginning with a new one`);
      return null;
    }
    if (state.orgUrl === orgUrl) return state;
    throw new UsageError([
      `--state ${JSON.stringify(directory)} has the state of ${state.orgUrl}, not of ${orgUrl}: give each org a directory, or leave --state out`,
    ]);
  }

  async function save(state: FollowState): Promise<void> {
    isSaved = false;
    await makeDirectory(directory, 0o700);
    const text = `${JSON.stringify({ schema, ...state })}\n`;
    const problem = await writeWhole({ option: "--state", file: path }, text, 0o600);
    if (problem !== null) throw new Error(problem);
    isSaved = true;
  }
}

const schema = "scanstream.follow/1";
const time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
);
// As this program wrote them.
const lines = v.array(v.custom<ChangeLine>((line) => v.is(v.object({ id: v.string() }), line)));
const stateSchema = v.object({
  schema: v.literal(schema),
  orgUrl: v.string(),
  monitorId: v.pipe(v.string(), v.uuid()),
  cursor: v.nullable(v.pipe(v.string(), v.startsWith("/api/v1/logs?"))),
  lastLookAt: v.nullable(time),
  lastFullAt: time,
  benchmark: v.string(),
  orgPolicy: v.nullable(v.string()),
  checks: v.array(v.string()),
  seen: v.array(v.string()),
  pending: lines,
  unwritten: lines,
  answers: v.array(v.custom<SavedAnswers[number]>((answer) => v.is(v.object({ path: v.string() }), answer))),
  findings: v.array(v.custom<KnownFinding>((finding) => v.is(v.object({ fingerprint: v.string() }), finding))),
});

/** Null for what is no state of this version. */
function parseState(text: string): FollowState | null {
  try {
    const result = v.safeParse(stateSchema, JSON.parse(text));
    return result.success ? result.output : null;
  } catch {
    return null;
  }
}
