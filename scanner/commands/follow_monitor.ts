import type { Doorbell } from "../follow/doorbell.ts";
import { noMonitor, type PollResult, type MonitorPort } from "../follow/monitor_port.ts";
import type { MonitorPublisher } from "../streaming/monitor_publisher.ts";
import { startMonitoring } from "../streaming/start_publishing.ts";
import type { StreamConfig } from "../streaming/stream_config.ts";

/** The follower as others see it, at a gateway; null: it is not streamed. */
export function createMonitor(
  config: StreamConfig | null,
  {
    doorbell,
    log,
    isQuiet,
  }: { readonly doorbell: Doorbell; readonly log: (text: string) => void; readonly isQuiet: boolean },
): MonitorPort {
  if (config === null) return noMonitor;
  let publisher: MonitorPublisher | null = null;
  return {
    started(facts) {
      const { monitorId, onRegistered } = facts;
      const onDoorbell = () => doorbell.ring();
      const info = isQuiet ? () => {} : log;
      publisher = startMonitoring(config, monitorId, { warn: log, info, onDoorbell, onRegistered });
      publisher.started(facts);
    },
    // Before the first answer of the provider there is nothing to say: the registration says that the monitor runs.
    polled({ at, error, ...poll }) {
      if (at !== null) publisher?.polled({ ...poll, at, error: error === null ? null : toPublishedError(error) });
    },
    changed: (lines) => publisher?.changed(lines),
    stopped: () => publisher?.stopped(),
    ended: (reason) => publisher?.ended(reason),
  };
}

function toPublishedError({ code, detail, gapFrom: from, gapTo: to }: NonNullable<PollResult["error"]>) {
  return { code, detail, ...(from === undefined || to === undefined ? {} : { gap: { from, to } }) };
}
