import type { MonitorPort } from "../follow/follow_plan.ts";
import type { MonitorPublisher } from "../streaming/monitor_publisher.ts";
import { startMonitoring } from "../streaming/start_publishing.ts";
import type { StreamConfig } from "../streaming/stream_config.ts";

/** The follower as others see it, at a gateway; null: it is not streamed. */
export function createMonitor(
  config: StreamConfig | null,
  { log, isQuiet }: { readonly log: (text: string) => void; readonly isQuiet: boolean },
): MonitorPort {
  if (config === null) return noMonitor;
  let publisher: MonitorPublisher | null = null;
  return {
    started(facts) {
      const { monitorId, onRegistered } = facts;
      const info = isQuiet ? () => {} : log;
      publisher = startMonitoring(config, monitorId, { warn: log, info, onRegistered });
      publisher.started(facts);
    },
    polled: (poll) => publisher?.polled(poll),
    changed: (lines) => publisher?.changed(lines),
    stopped: async () => publisher?.stopped(),
    ended: async (reason) => publisher?.ended(reason),
  };
}

/** Nobody stores anything. */
const noMonitor: MonitorPort = {
  started() {},
  polled() {},
  changed: (lines) => lines.settle(lines.first(Number.POSITIVE_INFINITY)),
  async stopped() {},
  async ended() {},
};
