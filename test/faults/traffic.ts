import { encodeEvent, toMessage } from "../../shared/event.ts";
import type { MessagePublisher } from "../../shared/broker.ts";
import { openReader, type StreamReader } from "./stream_reader.ts";

interface Publication {
  readonly startedAtMs: number;
  readonly isHandedOver: boolean;
}

/** Numbered events on several channels, and what became of each: what a complete stream must hold follows from it. */
export interface Traffic {
  /** The number of the newest event that a channel was given. */
  newest(channel: string): number;
  stop(): Promise<void>;
  /** Returns what is wrong with the events that a reader of the channel saw from its open to its close, or null. */
  gapIn(channel: string, reader: StreamReader): string | null;
}

/** Stream of a channel of the traffic. */
interface Followable {
  readonly channel: string;
  readonly streamUrl: string;
  readonly authorization: string;
}

/**
 * Opens each again as a client does, until none is refused any more, and reads its newest event.
 * Rejects for a refusal that is no 503 with a `Retry-After`.
 */
export async function untilReopened(traffic: Traffic, places: readonly Followable[]): Promise<void> {
  for (const { channel, streamUrl, authorization } of places) {
    for (;;) {
      const reader = await openReader(streamUrl, authorization);
      if (reader.status === 200) {
        await reader.until(traffic.newest(channel));
        reader.leave();
        break;
      }
      if (reader.status !== 503 || !(Number(reader.retryAfter) > 0)) {
        throw new Error(`Refused with ${reader.status}, Retry-After ${reader.retryAfter}: expected 503 and a time`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export interface TrafficOptions {
  readonly channels: readonly string[];
  /** Between two events of one channel. */
  readonly everyMs: number;
}

export function startTraffic(broker: MessagePublisher, { channels, everyMs }: TrafficOptions): Traffic {
  const logs = new Map<string, Publication[]>(channels.map((channel) => [channel, []]));
  const stopping = new AbortController();
  const running = channels.map((channel) => pour(channel, logs.get(channel) ?? []));

  async function pour(channel: string, log: Publication[]): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAtMs = performance.now();
      const event = encodeEvent("scan.delta", { n: log.length, scan_id: channel.split(":").at(-1) ?? "" });
      const isHandedOver = await broker.publish(channel, toMessage(event)).then(
        () => true,
        () => false,
      );
      log.push({ startedAtMs, isHandedOver });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  return {
    newest: (channel) => (logs.get(channel)?.length ?? 0) - 1,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
    gapIn(channel, reader) {
      const log = logs.get(channel) ?? [];
      const { numbers } = reader;
      for (let index = 1; index < numbers.length; index += 1) {
        if ((numbers[index] ?? 0) <= (numbers[index - 1] ?? 0))
          return `out of order: ${numbers[index - 1]}, ${numbers[index]}`;
      }
      // Whatever was published after the client saw the stream open, up to the last it received.
      const seen = new Set(numbers);
      const last = numbers.at(-1) ?? -1;
      const missed = log.findIndex(
        ({ startedAtMs, isHandedOver }, number) =>
          isHandedOver && number <= last && startedAtMs > reader.openedAtMs && !seen.has(number),
      );
      return missed === -1 ? null : `event ${missed} is missing before event ${last}`;
    },
  };
}
