import { encodeEvent, toMessage } from "../shared/event.ts";
import type { Broker } from "../shared/broker.ts";

/** Events of one channel, numbered without a gap: what a complete stream holds follows from any one of them. */
export interface NumberedChannel {
  readonly name: string;
  readonly scanId: string;
  /** The number that the next event will have; a subscriber from before its publication receives it. */
  readonly next: number;
}

export interface Traffic {
  stop(): Promise<void>;
}

export interface TrafficOptions {
  readonly everyMs: number;
  /** More bytes in each event. */
  readonly padding: number;
  /** The producer's own network never breaks: an event that cannot be handed over is a problem of the soak. */
  readonly onFailure: (error: unknown) => void;
}

export interface ProducedChannel extends NumberedChannel {
  next: number;
}

/** Publishes on a channel until it is stopped, each event after the last was handed over. */
export function startTraffic(broker: Broker, channel: ProducedChannel, options: TrafficOptions): Traffic {
  const stopping = new AbortController();
  const running = pour();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };

  async function pour(): Promise<void> {
    const padding = "x".repeat(options.padding);
    while (!stopping.signal.aborted) {
      const n = channel.next;
      channel.next += 1;
      const event = encodeEvent("scan.delta", { scan_id: channel.scanId, n, padding });
      await broker.publish(channel.name, toMessage(event)).catch(options.onFailure);
      await new Promise((resolve) => setTimeout(resolve, options.everyMs));
    }
  }
}
