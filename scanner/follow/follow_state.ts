import { join } from "node:path";
import * as v from "valibot";
import { makeDirectory, readText, writeWhole } from "../../command_line/files.ts";
import { hasCode, readProblem } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Reading } from "../okta/idp_client.ts";
import type { ChangeLine, KnownFinding } from "./changes.ts";
import type { Relevant } from "./log_event.ts";

/** An answer of the provider, in memory. */
export interface SavedAnswer {
  readonly path: string;
  readonly reading: Reading<unknown>;
  /** It was obtained once, and refused since. */
  readonly wasObtained: boolean;
  /** It was forgotten, and no collector has needed it since; another process must not take it for true either. */
  readonly isForgotten?: true;
}

const schema = "scanstream.follow/1";
const time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
);
/** A list as this program wrote it. */
function listOf<Item>(entry: v.GenericSchema) {
  return v.custom<readonly Item[]>((list) => v.is(v.array(entry), list));
}

const lines = listOf<ChangeLine>(v.object({ id: v.string() }));
const stateSchema = v.object({
  schema: v.literal(schema),
  orgUrl: v.string(),
  /** The same directory is the same monitor. */
  monitorId: v.pipe(v.string(), v.uuid()),
  /** Path and query of the log's next page; null: the log has not been read. */
  cursor: v.nullable(v.pipe(v.string(), v.startsWith("/api/v1/logs?"))),
  /** When the log was last read to its end. */
  lastLookAt: v.nullable(time),
  lastFullAt: time,
  /** When the last full scan began that read everything but the log, by the provider's clock; 0: none did. */
  blindScanMs: v.number(),
  /** The revision of the STIG by which they were judged. */
  benchmark: v.string(),
  /** Names the document by which they were judged, as `decidingDigest` does; null: none. */
  orgPolicy: v.nullable(v.string()),
  /** Identities of log entries that were read. */
  seen: listOf<string>(v.string()),
  answers: listOf<SavedAnswer>(v.object({ path: v.string(), reading: v.object({ state: v.string() }) })),
  findings: listOf<KnownFinding>(v.object({ fingerprint: v.string(), own: v.object({}) })),
  /** Events that may explain what is collected again. */
  retryEvents: listOf<Relevant>(v.object({ event: v.object({ type: v.string() }) })),
  /** Written lines that the gateway may not have, oldest first. */
  pending: lines,
  /** When the newest change that the gateway has was seen. */
  storedAt: v.optional(v.string(), ""),
  /** Lines that may not be written, oldest first. */
  unwritten: lines,
});

/** State of a follower, whole after each of its rounds. */
export type FollowState = Readonly<Omit<v.InferOutput<typeof stateSchema>, "schema">>;

/** The state is one file, which is replaced whole, so that the process may be killed at any instant. */
const stateFile = "state.json";
const maxStateBytes = 256 * 1_048_576;

/** Null where none exists that can be used; `say` hears why. Throws `UsageError` for the state of another org. */
export async function loadState(
  directory: string,
  orgUrl: string,
  say: (text: string) => void,
): Promise<FollowState | null> {
  const file = join(directory, stateFile);
  const text = await readText(file, maxStateBytes).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ENOTDIR"))
      throw new UsageError([`Cannot read --state ${JSON.stringify(file)}: ${readProblem(error)}`], { cause: error });
    return "";
  });
  if (text === null) return null;
  const state = v.safeParse(v.pipe(v.string(), v.parseJson(), stateSchema), text);
  if (!state.success) {
    say(`The state in ${JSON.stringify(directory)} is damaged, or of another version: beginning with a new one`);
    return null;
  }
  if (state.output.orgUrl === orgUrl) return state.output;
  throw new UsageError([
    `--state ${JSON.stringify(directory)} has the state of ${state.output.orgUrl}, not of ${orgUrl}: give each org another directory, or leave --state out`,
  ]);
}

/** Resolves with null, or with why it cannot be saved. */
export async function saveState(directory: string, state: FollowState): Promise<string | null> {
  try {
    await makeDirectory(directory, 0o700);
    const text = `${JSON.stringify({ schema, ...state })}\n`;
    return await writeWhole({ option: "--state", file: join(directory, stateFile) }, text, 0o600);
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  }
}
