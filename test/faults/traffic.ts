import { encodeEvent, toMessage } from "../../shared/event.ts";
import type { MessagePublisher } from "../../shared/broker.ts";
import type { StreamReader } from "./stream_reader.ts";

interface Publication {
  readonly startedAtMs: number;
  readonly isHandedOver: boolean;
}

export type Traffic = ReturnType<typeof startTraffic>;

export interface TrafficOptions {
  readonly channels: readonly string[];
  /** Between two events of one channel. */
  readonly everyMs: number;
  /** Added to each event. Default 0. */
  readonly paddingBytes?: number;
}

/** Numbered events on several channels, and what became of each: what a complete stream must hold follows from it. */
export function startTraffic(broker: MessagePublisher, { channels, everyMs, paddingBytes = 0 }: TrafficOptions) {
  const padding = "x".repeat(paddingBytes);
  const logs = new Map<string, Publication[]>(channels.map((channel) => [channel, []]));
  const stopping = new AbortController();
  const running = channels.map((channel) => pour(channel, logs.get(channel) ?? []));

  async function pour(channel: string, log: Publication[]): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAtMs = performance.now();
      const event = encodeEvent("scan.delta", { n: log.length, scan_id: channel.split(":").at(-1) ?? "", padding });
      const isHandedOver = await broker.publish(channel, toMessage(event)).then(
        () => true,
        () => false,
      );
      log.push({ startedAtMs, isHandedOver });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  return {
    /** The number of the newest event that a channel was given. */
    newest: (channel: string) => (logs.get(channel)?.length ?? 0) - 1,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
    /** Returns what is wrong with the events that a reader of the channel saw from its open to its close, or null. */
    gapIn(channel: string, reader: StreamReader) {
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
