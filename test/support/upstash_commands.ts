import type { Redis } from "ioredis";

/** A command and its arguments, as they came. */
export type Command = readonly [string, ...(string | number)[]];

/** What the REST API answers for one command. */
export type Reply = { readonly result: unknown } | { readonly error: string };

/** Commands that would change or block the connection that all requests share. */
const unavailableCommands = new Set(
  (
    "auth hello reset quit select swapdb client watch unwatch multi exec discard subscribe unsubscribe psubscribe " +
    "punsubscribe ssubscribe sunsubscribe monitor sync psync replicaof slaveof shutdown debug config save bgsave " +
    "bgrewriteaof failover cluster module blpop brpop brpoplpush blmove blmpop bzpopmin bzpopmax bzmpop wait waitaof"
  ).split(" "),
);

/** Throws `TypeError` for what is no command: `["SET", "key", 1]`. */
export function toCommand(value: unknown): Command {
  const isCommand =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((part) => ["string", "number", "boolean"].includes(typeof part));
  if (!isCommand) throw new TypeError("ERR failed to parse command: expected a JSON array of strings and numbers");
  const [name, ...args] = value.map((part: unknown) => (typeof part === "number" ? part : String(part)));
  return [String(name), ...args];
}

/** Why a command is not run, or null. */
export async function refusalOf(redis: Redis, [name, ...args]: Command, isReadOnly: boolean): Promise<string | null> {
  const lower = name.toLowerCase();
  const isBlocking = ["xread", "xreadgroup"].includes(lower) && args.some((arg) => /^block$/i.test(String(arg)));
  if (unavailableCommands.has(lower) || isBlocking) return `ERR Command is not available: '${name}'`;
  if (isReadOnly && !(await isReadCommand(redis, lower))) {
    return `NOPERM this user has no permissions to run the '${lower}' command`;
  }
  return null;
}

/** Encodes as the client asked: with base64, every string but `OK`, at any depth. */
export async function runCommand(redis: Redis, [name, ...args]: Command, isBase64: boolean): Promise<Reply> {
  try {
    return toReply(await redis.callBuffer(name, args.map(String)), isBase64);
  } catch (error) {
    return toError(error);
  }
}

/** All or nothing; rejects when the transaction was discarded. */
export async function runTransaction(
  redis: Redis,
  commands: readonly Command[],
  isBase64: boolean,
): Promise<readonly Reply[]> {
  // Written in one turn, so that no other request's command comes between.
  const queued = [redis.call("MULTI"), ...commands.map(([name, ...args]) => redis.callBuffer(name, args.map(String)))];
  const executed = redis.callBuffer("EXEC");
  await Promise.allSettled(queued);
  const results = await executed;
  if (!Array.isArray(results)) throw new Error("EXECABORT Transaction discarded");
  return results.map((result) => (result instanceof Error ? toError(result) : toReply(result, isBase64)));
}

function toReply(result: unknown, isBase64: boolean): Reply {
  return { result: toJson(result, isBase64) };
}

function toJson(value: unknown, isBase64: boolean): unknown {
  if (Array.isArray(value)) return value.map((part) => toJson(part, isBase64));
  if (value instanceof Error) return value.message;
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  if (!(bytes instanceof Uint8Array)) return value;
  const text = Buffer.from(bytes);
  return isBase64 && text.toString() !== "OK" ? text.toString("base64") : text.toString();
}

function toError(error: unknown): Reply {
  return { error: error instanceof Error ? error.message : "ERR unknown" };
}

async function isReadCommand(redis: Redis, name: string): Promise<boolean> {
  if (["ping", "echo", "time"].includes(name)) return true;
  const [entry] = (await redis.call("COMMAND", ["INFO", name])) as readonly unknown[];
  const flags: unknown = Array.isArray(entry) ? entry[2] : [];
  return Array.isArray(flags) && flags.includes("readonly");
}
