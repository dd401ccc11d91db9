import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { problemOf, type RestClient } from "../../shared/client/gateway_client.ts";
import { changeEvents, toFindingUpdated } from "../../shared/finding_updated.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import { monitorSchema, type MonitorUpdate, type NewMonitor } from "../../shared/schemas/monitor.ts";
import { GatewayRefusal } from "../../shared/http_refusal.ts";
import { toLine } from "../../shared/text.ts";
import { createQueuePublisher, hasEnded, isMissing, type EventQueue } from "./publisher.ts";

export type MonitorPublisher = ReturnType<typeof createMonitorPublisher>;

export interface FollowedMonitor {
  /** A UUID, the same over restarts until the monitor ends. */
  readonly monitorId: string;
  readonly registration: NewMonitor;
  readonly changes: EventQueue<NewChange>;
  /** Called once the gateway knows the monitor: under a new id if the previous monitor has ended. */
  readonly onRegistered: (monitor: RegisteredMonitor) => void;
}

export interface MonitorPublisherOptions {
  readonly gateway: RestClient;
  /** Called with one line for a person: when an outage begins, when it is over, when the gateway refuses something. */
  readonly warn: (message: string) => void;
  readonly onRegistered?: (monitor: RegisteredMonitor) => void;
  /** Default: the interval, at least 20 s. */
  readonly heartbeatMs?: number;
}

/** Only what is used: a gateway of another release may answer other fields differently. */
const registeredSchema = v.pick(monitorSchema, ["id", "channel", "last_look_at", "last_change_at", "started_at"]);
const updatedSchema = v.pick(monitorSchema, ["last_change_at", "started_at"]);

export type RegisteredMonitor = v.InferOutput<typeof registeredSchema>;

/** The follower as others see it: a monitor at the gateway, which stores and publishes its changes. The methods never block and never fail. */
export function createMonitorPublisher(
  { gateway, warn, ...options }: MonitorPublisherOptions,
  { monitorId, registration, changes, onRegistered }: FollowedMonitor,
) {
  let id = monitorId;
  let monitor: RegisteredMonitor | null = null;
  let update: MonitorUpdate = {};
  let last: MonitorUpdate = { status: "stopped" };
  /** Times of the last change that the gateway had, and of the last one that it stored in this process. */
  let lastChangeAt = "";
  let storedAt = "";
  let hasTakenBack = false;
  const publisher = createQueuePublisher<NewChange>({
    kind: "monitor",
    gateway,
    queue: changes,
    heartbeatMs: options.heartbeatMs ?? Math.max(registration.interval_seconds, 20) * 1000,
    warn,
    publish: (publisher, channel, change) =>
      changeEvents(publisher).publishFindingUpdated(channel, toFindingUpdated(id, change)),
    onStored({ cause, seen_at }) {
      if (cause !== "start") storedAt = seen_at;
    },
    async register(signal) {
      monitor = await register(signal);
      options.onRegistered?.(monitor);
      onRegistered(monitor);
      return monitor.channel;
    },
    async update(signal) {
      const body = { status: "running", ...update };
      const patch = () => gateway.ask("PATCH", path(), updatedSchema, { body, signal });
      const { last_change_at: at, started_at: startedAt } = await patch();
      // One that is restored from a backup has an earlier start.
      if (monitor !== null && startedAt > monitor.started_at) {
        // Two followers would both store each change. A registration of this one that arrived late looks the same, once.
        if (hasTakenBack) throw new GatewayRefusal(409, replaced);
        hasTakenBack = true;
        monitor = await register(signal);
        await patch();
      }
      // After a clock was set back, a later change has an earlier time.
      const isRestored = (at ?? "") < lastChangeAt && at !== storedAt;
      lastChangeAt = at ?? "";
      if (isRestored) onRestored();
    },
    end: (signal) => gateway.send("PATCH", path(), { body: last, signal }),
    onRestored,
    isGone(error) {
      const isGone = hasEnded(error) || (monitor !== null && isMissing(error, "monitor"));
      if (isGone) warn(`The gateway takes no more of this monitor, which continues without it: ${problemOf(error)}`);
      return isGone;
    },
  });
  return {
    /** After each poll of the org, even if it brought nothing. */
    polled({ error_detail: detail = null, ...poll }: MonitorUpdate): void {
      // Before the first answer of the provider there is nothing to say: the registration says that the monitor runs.
      if (poll.last_look_at === null) return;
      const next = { ...poll, error_detail: detail === null ? null : toLine(detail, maxTextChars) };
      const isNews = newsOf(next) !== newsOf(update);
      update = next;
      if (isNews) publisher.requestUpdate();
    },
    /** There are changes in the queue. It may hold stored ones again: the gateway stores each once by its id. */
    changed: () => publisher.wake(),
    /**
     * `reason`: why the monitor has ended, in one line for a person; null: only the process ends, and the next one continues the
     * monitor. Resolves when it was accepted or given up.
     */
    async end(reason: string | null): Promise<void> {
      if (reason !== null) last = { status: "ended", error_detail: toLine(reason, maxTextChars) };
      await publisher.end(endTimeoutMs);
    },
  };

  function path(): string {
    return `/api/v1/monitors/${id}`;
  }

  function onRestored(): void {
    if (monitor !== null) onRegistered({ ...monitor, last_look_at: null });
  }

  /** The same call again goes on with the monitor, as after a restart. */
  async function register(signal: AbortSignal): Promise<RegisteredMonitor> {
    try {
      return await gateway.ask("PUT", path(), registeredSchema, { body: registration, signal });
    } catch (error) {
      if (!hasEnded(error) || id !== monitorId) throw error;
      warn(`The previous monitor accepts no more changes, so a new one starts: ${problemOf(error)}`);
      id = randomUUID();
      return register(signal);
    }
  }
}

const replaced = "another follower was started with a copy of its --state; give each its own";
/** While ending: how long the gateway may accept nothing. */
const endTimeoutMs = 5000;
/** The bound of the gateway's field, in characters. */
const maxTextChars = 2048;

/** Fields of an update that wait for the heartbeat: a change of any other is sent at once. */
const unhurried: ReadonlySet<string> = new Set(["last_look_at", "lag_seconds", "gap_from", "gap_to"]);

function newsOf(update: MonitorUpdate): string {
  return JSON.stringify(update, (key, value: unknown) => (unhurried.has(key) ? undefined : value));
}
