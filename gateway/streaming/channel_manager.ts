import type { Database } from "../../drizzle/database.ts";
import { readOne, type TenantDatabase } from "../../drizzle/transactions.ts";
import { accessOf, createAuthorityCheck } from "../auth/membership.ts";
import { AppError, NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { canReadChannel, channelNameProblem, isUuid, parseChannelName } from "../../shared/channel_name.ts";
import { isJsonObject } from "../../shared/json.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { encodeEvent } from "../../shared/event.ts";
import type { Principal } from "../auth/principal.ts";
import { sha256Hex } from "../auth/sha256.ts";
import type { EventStreams } from "../features/features.ts";
import { isUnexpected } from "../http/problem.ts";
import { accountOf } from "../limits.ts";
import { silentLog, type Log } from "../observability/log.ts";
import { encodeChunk, encodeComment, encodeEventFrame } from "./event_stream_encoding.ts";
import { FeatureError, mapResult, unexpectedResult, type ChannelsRequest } from "./event_stream_definition.ts";
import { findEventStream, type RequestedStream, type RequestedOpening, type StreamOpener } from "./event_stream.ts";
import { createLocalStreams, type LocalStreams, type LocalStreamsOptions } from "./local_streams.ts";
import { selectStoredNumbers } from "./published.ts";
import type { StreamSnapshot } from "./sinks/sink.ts";
import type { RecheckChannels } from "./open_stream.ts";

export interface ChannelManagerOptions extends Omit<
  LocalStreamsOptions,
  "stillAllowed" | "recheckChannels" | "readStored"
> {
  readonly database: Database;
  readonly eventStreams: EventStreams;
}

/**
 * Opens and guards channels in this process: `getChannels` finds them in the tenant's transaction, `canReadChannel` checks
 * their names, and then the stream is opened.
 */
export class ChannelManager implements StreamOpener {
  readonly streams: LocalStreams;
  readonly #database: Database;

  constructor({ database, eventStreams, ...options }: ChannelManagerOptions) {
    this.#database = database;
    this.streams = createLocalStreams({
      ...options,
      stillAllowed: createAuthorityCheck(database),
      recheckChannels: createRecheck(eventStreams, database, options.log),
      readStored: (tenantId, channels) =>
        readOne(database, { tenantId }, (db) => selectStoredNumbers(db, channels, null)),
    });
  }

  async open(opening: RequestedOpening): Promise<Response> {
    const { stream, principal, hasSnapshot, request, platform } = opening;
    const { channels, hasEnded } = await findChannels(stream, principal, this.#database);
    accountOf(request).belongsTo(principal.tenantId);
    if (hasEnded) return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
    return this.streams.open({
      request,
      principal,
      name: stream.name,
      channels,
      ...(hasSnapshot && { readSnapshot: () => readSnapshot(opening, this.#database) }),
      platform,
    });
  }
}

interface FoundChannels {
  readonly channels: readonly string[];
  readonly hasEnded: boolean;
}

/** Each open stream keeps its name: 100 ids have half of it. */
const maxNameLength = 8192;

/** Both gates before a stream. Rejects with `AppError` `malformed`, `not_found`, `permission_denied`, or `unavailable`. */
export async function findChannels(
  stream: RequestedStream,
  principal: Principal,
  database: Database,
): Promise<FoundChannels> {
  const { params, name } = stream;
  if (name.length > maxNameLength) {
    throw new AppError("malformed", `The query of an event stream has over ${maxNameLength} characters`);
  }
  if (principal.onlyStream !== null && principal.onlyStream !== (await sha256Hex(name))) {
    throw new PermissionDenied("This stream token is for another event stream");
  }
  return accessOf(database, { ...principal, permission: "read" }).read(async (db) => {
    if (Object.values(params).every(isUuid)) return channelsOf(stream, principal, db);
    throw new NotFound("No such resource");
  });
}

/** Openings that are repeated in one transaction, which may take 4 s. */
const maxReopened = 100;

/**
 * Repeats the opening of one principal's streams, some of one feature in each transaction: see `RecheckChannels`. A stream whose
 * resource has ended, or was deleted, may have missed its terminal event: it was published between the look-up and the
 * subscription, or the broker did not take it. A feature that fails keeps its streams; those of others are checked.
 */
function createRecheck(eventStreams: EventStreams, database: Database, log: Log = silentLog): RecheckChannels {
  return async (principal, names, onStored) => {
    const { read } = accessOf(database, { ...principal, permission: "read" });
    const found = new Map<string, "ended" | "denied">();
    const streams = names.flatMap(
      (name) => findEventStream(eventStreams, new URL(name, "http://gateway.internal")) ?? [],
    );
    const stepOf = (prefix: string, index: number) => `${prefix} ${Math.floor(index / maxReopened)}`;
    const steps = Map.groupBy(streams, ({ definition }, index) => stepOf(definition.prefix, index));
    for (const [step, ofStep] of steps) {
      try {
        await read(async (db) => {
          const open: string[] = [];
          for (const stream of ofStep) {
            const state = await stateOf(stream, principal, db);
            if (typeof state === "string") found.set(stream.name, state);
            else open.push(...state);
          }
          // Longer than the longest time between two rechecks: what is older was compared before.
          if (open.length > 0) onStored(await selectStoredNumbers(db, open, 15));
        });
      } catch (error) {
        if (!isUnexpected(error)) throw error;
        log.error({ feature: step.split(" ")[0], error }, "the channels of open streams could not be checked again");
      }
    }
    return found;
  };
}

/** The channels of a stream that would be opened again, else why it would not. */
async function stateOf(
  stream: RequestedStream,
  principal: Principal,
  db: TenantDatabase,
): Promise<readonly string[] | "ended" | "denied"> {
  try {
    const { channels, hasEnded } = await channelsOf(stream, principal, db);
    return hasEnded ? "ended" : channels;
  } catch (error) {
    if (error instanceof NotFound) return "ended";
    if (error instanceof PermissionDenied) return "denied";
    throw error;
  }
}

/** The database ends a transaction a moment later, and would be named for what the feature has not done. */
const getChannelsTimeoutMs = 4000;

/** Calls `getChannels`. Rejects as it does, and with an error that explains an invalid result to its author. */
async function channelsOf(stream: RequestedStream, principal: Principal, db: TenantDatabase): Promise<FoundChannels> {
  const { prefix, getChannels } = stream.definition;
  const isLate = () => {
    const cause = new FeatureError(
      `getChannels of the feature "${prefix}" did not answer within ${getChannelsTimeoutMs / 1000} s`,
    );
    return new AppError("unavailable", "The event stream cannot be found in time", { cause, retryAfterSeconds: 2 });
  };
  const running = Promise.resolve(getChannels(toRequest(stream, principal, db)));
  const result: unknown = await withTimeout(running, getChannelsTimeoutMs, isLate);
  const hasEnded = isJsonObject(result);
  const names = hasEnded ? result["ended"] : result;
  if (Array.isArray(names)) return { channels: requireReadable(principal, prefix, names), hasEnded };
  throw unexpectedResult(`getChannels of the feature "${prefix}"`, result, "a list of channel names, or ended(…)");
}

/** Reads and encodes the stream's snapshot. Rejects as `findChannels` does. */
async function readSnapshot(
  { stream, principal, request }: RequestedOpening,
  database: Database,
): Promise<StreamSnapshot> {
  return accessOf(database, { ...principal, permission: "read" }).read(async (db) => {
    const { prefix, getSnapshot } = stream.definition;
    const snapshot = await getSnapshot?.(toRequest(stream, principal, db));
    const of = `getSnapshot of the feature "${prefix}"`;
    if (!Array.isArray(snapshot?.events)) throw unexpectedResult(of, snapshot, "{ events: […] }");
    const frames = mapResult(of, "*.snapshot events", snapshot.events, ({ type, data }) => {
      const event = encodeEvent(type, data);
      // A client that waits for a snapshot would take it for an event that came too early.
      if (type.endsWith(".snapshot")) return encodeEventFrame(event);
      throw new TypeError(`${JSON.stringify(type)} is not a snapshot`);
    });
    const chunk = encodeChunk(frames.join("") + encodeComment("snapshot complete"));
    accountOf(request).chargeAnswer(chunk.bytes.byteLength);
    return { chunk, hasEnded: snapshot.hasEnded ?? false };
  });
}

function toRequest(stream: RequestedStream, principal: Principal, db: TenantDatabase): ChannelsRequest<string> {
  const query = Object.fromEntries([...stream.query].toReversed());
  return { principal, params: stream.params, db, query, queryAll: (name) => stream.query.getAll(name) };
}

/** More channels on one stream are a bug of the feature, not a wish of the client. */
const maxChannels = 100;

/**
 * The second of the two gates before a stream: checks the channels that `getChannels` returned by their names alone, and
 * returns them without duplicates. Throws `PermissionDenied` when one is malformed or another tenant's, without naming it
 * or the reason; `NotFound` when none exists; `Error` for a bug of the feature.
 */
function requireReadable(principal: Principal, prefix: string, names: readonly unknown[]): readonly string[] {
  const channels = new Set<string>();
  for (const name of names) {
    if (!canReadChannel(principal, name)) {
      const problem = channelNameProblem(name) ?? "it is of another tenant than the caller";
      const cause = new FeatureError(
        `getChannels of the feature "${prefix}" returned ${JSON.stringify(name)}: ${problem}`,
      );
      throw new PermissionDenied("Not permitted to read this event stream", { cause });
    }
    if (parseChannelName(name)?.prefix !== prefix) {
      throw new Error(`Cannot open an event stream: channel "${name}" is not of the feature's prefix "${prefix}"`);
    }
    channels.add(name);
  }
  if (channels.size === 0) throw new NotFound("No such event stream");
  if (channels.size > maxChannels) {
    throw new FeatureError(
      `getChannels of the feature "${prefix}" returned ${channels.size} channels: expected at most ${maxChannels}`,
    );
  }
  return [...channels];
}
