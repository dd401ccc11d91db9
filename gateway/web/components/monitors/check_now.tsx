import { useEffect, useState } from "preact/hooks";
import { toMonitorPath, type Api } from "../../model/api.ts";
import { toProblem } from "../../model/connection.ts";
import { formatDuration, formatTime } from "../../model/format.ts";
import type { Monitor } from "../../monitor_wire.ts";

const againAfterMs = 2000;

interface Asked {
  /** The last poll when it was asked. */
  readonly lastLookAtMs: number | null;
  readonly problem: string | null;
}

/** Asks the monitor's follower to poll at once, and says what became of it. */
export function CheckNow({ api, monitor }: { readonly api: Api; readonly monitor: Monitor }) {
  const [isResting, setResting] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), [closing]);
  useEffect(() => {
    if (!isResting) return undefined;
    const timer = setTimeout(() => setResting(false), againAfterMs);
    return () => clearTimeout(timer);
  }, [isResting]);

  async function ask(): Promise<void> {
    const { lastLookAtMs } = monitor;
    const { signal } = closing;
    setResting(true);
    setAsked(null);
    try {
      await api.request("POST", `${toMonitorPath(monitor.id)}/check`, { signal });
      setAsked({ lastLookAtMs, problem: null });
    } catch (error) {
      if (!signal.aborted) setAsked({ lastLookAtMs, problem: toProblem(error) });
    }
  }

  return (
    <>
      <button type="button" class="button button-small" disabled={isResting} onClick={() => void ask()}>
        Check now
      </button>
      <span role="status" class="fine check-now">
        {asked === null ? (isResting ? "Asking…" : "") : toState(asked, monitor)}
      </span>
    </>
  );
}

function toState({ lastLookAtMs: before, problem }: Asked, { status, lastLookAtMs, intervalSeconds }: Monitor): string {
  if (problem !== null) return `Could not ask the follower to check: ${problem}`;
  if (lastLookAtMs !== null && lastLookAtMs !== before) return `The follower checked ${formatTime(lastLookAtMs)}.`;
  if (status !== "running") return "Requested, but the follower is not reporting. It checks when it runs again.";
  return `Requested. The follower checks within ${formatDuration(intervalSeconds * 1000)}, or at once if it listens for requests.`;
}
