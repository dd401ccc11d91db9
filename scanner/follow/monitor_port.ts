import type { MonitorFacts, MonitorPublisher } from "../streaming/monitor_publisher.ts";

/** Where a follower reports what it does. It never blocks the follower and never fails it. */
export interface MonitorPort extends Omit<MonitorPublisher, "started"> {
  started(facts: FollowedMonitor): void;
}

export interface FollowedMonitor extends MonitorFacts {
  readonly monitorId: string;
  /** Called once it is known there: with a new id if the previous monitor has ended. */
  readonly onRegistered: (monitorId: string) => void;
}

/** Nobody stores anything. */
export const noMonitor: MonitorPort = {
  started() {},
  polled() {},
  changed: (lines) => lines.settle(lines.first(Number.POSITIVE_INFINITY)),
  async stopped() {},
  async ended() {},
};
