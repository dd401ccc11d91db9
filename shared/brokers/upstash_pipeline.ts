export interface UpstashPipelineOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Bound on one request. */
  readonly timeoutMs: number;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

export type UpstashCommand = readonly [name: string, ...args: readonly string[]];

/** What Upstash said to one command. */
export interface UpstashReply {
  readonly result?: unknown;
  readonly error?: string;
}

/** Sends commands in order and gives one reply for each. Rejects when there is no such answer; nothing is sent twice. */
export type UpstashPipeline = (commands: readonly UpstashCommand[]) => Promise<readonly UpstashReply[]>;

/** More than the replies to any pipeline of ours; a server that goes on is not Upstash. */
const maxAnswerChars = 4_000_000;

/**
 * The one endpoint that publishing needs (https://upstash.com/docs/redis/features/restapi#pipelining). The vendor's client
 * would be a sixth of a Worker's bundle, and follows redirects.
 */
export function createUpstashPipeline({ url, token, timeoutMs, signal }: UpstashPipelineOptions): UpstashPipeline {
  return async (commands) => {
    const response = await fetch(`${url}/pipeline`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(commands),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${text.slice(0, 300)}`);
    if (text.length > maxAnswerChars) throw new Error("The answer is longer than any answer of Upstash");
    return parseReplies(text, commands.length);
  };
}

function parseReplies(text: string, count: number): readonly UpstashReply[] {
  const replies: unknown = JSON.parse(text);
  if (!Array.isArray(replies) || replies.length !== count || !replies.every(isReply)) {
    throw new Error("The answer is not one reply for each command");
  }
  return replies;
}

function isReply(value: unknown): value is UpstashReply {
  if (typeof value !== "object" || value === null) return false;
  return "error" in value ? typeof value.error === "string" : "result" in value;
}
