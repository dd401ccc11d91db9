import { formatDuration, formatTime } from "../../model/format.ts";
import { pulseOf, type Pulse } from "../../model/monitor_pulse.ts";
import type { Monitor } from "../../monitor_wire.ts";
import { Icon, type IconName } from "../basics.tsx";
import { useNow } from "../hooks.ts";

interface PulseLook {
  readonly words: string;
  readonly icon: IconName;
  readonly tone: string;
}

export const pulseLooks: Readonly<Record<Pulse, PulseLook>> = {
  alive: { words: "Alive", icon: "alive", tone: "tone-pass" },
  starting: { words: "Starting", icon: "alive", tone: "tone-accent" },
  delayed: { words: "Delayed", icon: "delayed", tone: "tone-manual" },
  stale: { words: "Stale", icon: "stale", tone: "tone-fail" },
  blind: { words: "Blind", icon: "blind", tone: "tone-blind" },
  stopped: { words: "Stopped", icon: "stopped", tone: "tone-none" },
  ended: { words: "Ended", icon: "stopped", tone: "tone-none" },
  unknown: { words: "Not known", icon: "manual", tone: "tone-none" },
};

export function PulseBadge({ pulse }: { readonly pulse: Pulse }) {
  const { words, icon, tone } = pulseLooks[pulse];
  return (
    <span class={`tag row tinted ${tone}`} data-pulse={pulse}>
      <Icon name={icon} />
      {words}
    </span>
  );
}

interface PulseCardProps {
  readonly monitor: Monitor;
  /** False: the monitor may have changed since this page read it. */
  readonly isConnected: boolean;
  /** When this page last read everything; null: it has not yet. */
  readonly readAtMs: number | null;
  /** By the gateway's clock. */
  readonly nowMs: () => number;
}

/** Whether anything is watched at all, and so how far the results next to it can be trusted. */
export function PulseCard({ monitor, isConnected, readAtMs, nowMs }: PulseCardProps) {
  useNow();
  const now = nowMs();
  const pulse = isConnected ? pulseOf(monitor, now) : "unknown";
  const { words, icon, tone } = pulseLooks[pulse];
  const { lastLookAtMs } = monitor;
  return (
    <section class={`card pulse tinted ${tone}`} aria-labelledby="pulse-title" data-pulse={pulse}>
      <h2 id="pulse-title" class="pulse-words row">
        <Icon name={icon} />
        {words}
      </h2>
      <p class="pulse-look">
        {lastLookAtMs === null ? (
          "Not checked yet"
        ) : (
          <>
            {"Last checked "}
            <time dateTime={new Date(lastLookAtMs).toISOString()} class="pulse-age">
              {`${formatDuration(now - lastLookAtMs)} ago`}
            </time>
          </>
        )}
      </p>
      <p class="text">
        {pulse === "unknown"
          ? readAtMs === null
            ? "This page is not connected, and has not read everything yet."
            : `This page is not connected. The results were read ${formatTime(readAtMs)}.`
          : explanations[pulse](monitor, now)}
      </p>
      {monitor.errorDetail !== null && monitor.errorDetail !== "" && <p class="text">{monitor.errorDetail}</p>}
    </section>
  );
}

const explanations: Readonly<Record<Exclude<Pulse, "unknown">, (monitor: Monitor, nowMs: number) => string>> = {
  alive: ({ intervalSeconds }) => `The org's log is read every ${formatDuration(intervalSeconds * 1000)}.`,
  starting: () => "The first poll of the org is running.",
  delayed: (monitor, nowMs) =>
    `The monitor reports, but is ${formatDuration(behindMs(monitor, nowMs))} behind the org.`,
  stale: ({ updatedAtMs }, nowMs) =>
    `No report for ${formatDuration(nowMs - updatedAtMs)}: the org may have changed since.`,
  blind: () => "The org's log cannot be read: results come from full scans only.",
  stopped: ({ updatedAtMs }, nowMs) =>
    `Its last report was ${formatDuration(nowMs - updatedAtMs)} ago. It continues when its follower is started again.`,
  ended: () => "Monitoring has ended; these are the final results.",
};

function behindMs({ lastLookAtMs, lagSeconds }: Monitor, nowMs: number): number {
  return Math.max(nowMs - (lastLookAtMs ?? nowMs), (lagSeconds ?? 0) * 1000);
}
