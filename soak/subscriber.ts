import { get, type ClientRequest, type IncomingMessage } from "node:http";
import { createParser } from "eventsource-parser";
import type { NumberedChannel } from "./numbered_traffic.ts";

/** One client of one stream, which checks each event as it comes and keeps none. */
export interface Subscriber {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly retryAfter: string | null;
  readonly events: number;
  readonly isClosed: boolean;
  readonly closedAtMs: number;
  /** What the gateway wrote before it closed; null when it wrote none. */
  readonly closeReason: string | null;
  readonly closed: Promise<void>;
  /** What was wrong with what came: another channel's event, a gap, something after the close; null while nothing is. */
  readonly problem: string | null;
  pause(): void;
  resume(): void;
  /** Resolves once this event or a later one came, or the stream is closed. */
  until(number: number): Promise<void>;
  leave(): Promise<void>;
}

/** Resolves with the answer's head, whatever its status. On a connection of its own. */
export async function openSubscriber(
  url: string,
  authorization: string | null,
  channel: NumberedChannel,
): Promise<Subscriber> {
  const request = get(url, { agent: false, headers: authorization === null ? {} : { authorization } });
  // However it ends, it is over: how is seen from what came before.
  request.on("error", () => undefined);
  const subscriber = new CheckingSubscriber(request, channel);
  await subscriber.answered;
  return subscriber;
}

class CheckingSubscriber implements Subscriber {
  status = 0;
  retryAfter: string | null = null;
  events = 0;
  closedAtMs = 0;
  closeReason: string | null = null;
  problem: string | null = null;
  readonly answered: Promise<void>;
  readonly closed: Promise<void>;
  readonly #request: ClientRequest;
  readonly #channel: NumberedChannel;
  readonly #waiting = new Set<() => void>();
  #response: IncomingMessage | null = null;
  /** Published after the client saw the stream open: the first that it may not miss. */
  #firstDue = 0;
  #last: number | null = null;

  constructor(request: ClientRequest, channel: NumberedChannel) {
    this.#request = request;
    this.#channel = channel;
    const answered = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    this.answered = answered.promise;
    this.closed = closed.promise;
    const close = () => {
      this.closedAtMs = Date.now();
      this.#tell();
      answered.resolve();
      closed.resolve();
    };
    request.once("response", (response) => {
      // The connection may be over while what it brought is still being read.
      request.off("close", close);
      response.once("close", close);
      this.#open(response);
      answered.resolve();
    });
    request.once("close", close);
  }

  get isClosed(): boolean {
    return this.closedAtMs !== 0;
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  async until(number: number): Promise<void> {
    while (!this.isClosed && (this.#last ?? -1) < number) {
      await new Promise<void>((resolve) => void this.#waiting.add(resolve));
    }
  }

  async leave(): Promise<void> {
    this.#request.destroy();
    await this.closed;
  }

  #open(response: IncomingMessage): void {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.retryAfter = response.headers["retry-after"] ?? null;
    this.#firstDue = this.#channel.next;
    response.on("error", () => undefined);
    if (this.status !== 200) {
      response.resume();
      return;
    }
    const parser = createParser({
      onEvent: ({ data }) => this.#receive(data),
      onComment: (comment) => {
        this.closeReason ??= /^ ?close (\w+)/.exec(comment)?.[1] ?? null;
      },
    });
    response.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
  }

  #receive(data: string): void {
    const { scan_id: scanId, n } = JSON.parse(data) as { readonly scan_id: unknown; readonly n: unknown };
    this.events += 1;
    if (scanId !== this.#channel.scanId) this.problem ??= `got an event of another scan, ${String(scanId)}`;
    else if (typeof n !== "number") this.problem ??= `got an event without number: ${data.slice(0, 100)}`;
    else this.#count(n);
  }

  #count(n: number): void {
    if (this.closeReason !== null) this.problem ??= `got event ${n} after it was closed as ${this.closeReason}`;
    if (this.#last === null && n > this.#firstDue)
      this.problem ??= `began with event ${n}, and saw it open before ${this.#firstDue}`;
    if (this.#last !== null && n !== this.#last + 1) this.problem ??= `got event ${n} after event ${this.#last}`;
    this.#last = n;
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
