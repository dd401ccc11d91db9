import { useEffect, useRef, useState } from "preact/hooks";
import type { Connection } from "../model/connection.ts";
import { formatTime } from "../model/format.ts";
import { useNow } from "./hooks.ts";

const connectionStates: Readonly<Record<Connection["state"], { readonly words: string; readonly dot: string }>> = {
  connecting: { words: "Connecting", dot: "filled tone-manual" },
  live: { words: "Live", dot: "filled tone-pass" },
  reconnecting: { words: "Reconnecting", dot: "filled tone-manual" },
  ended: { words: "Ended", dot: "" },
  failed: { words: "Not connected", dot: "filled tone-fail" },
};

/** Says honestly how fresh the page is: never "live" while it is not. */
export function ConnectionState(props: { readonly connection: Connection; readonly retryNow: () => void }) {
  const { state, problem, retryAtMs, refetchedAtMs, openCount } = props.connection;
  useNow();
  const details: string[] = [];
  if (problem !== null && state !== "live") details.push(problem);
  if (retryAtMs !== null)
    details.push(`next try in ${Math.max(1, Math.ceil((retryAtMs - performance.now()) / 1000))} s`);
  if (state === "live" && openCount > 1 && refetchedAtMs !== null) {
    details.push(`reconnected, read again ${formatTime(refetchedAtMs)}`);
  }
  return (
    <div class="connection row wrap text" data-state={state}>
      <span class={`dot ${connectionStates[state].dot}`} aria-hidden="true" />
      <strong role="status">{connectionStates[state].words}</strong>
      <span class="fine">{details.join(" · ")}</span>
      {(state === "failed" || retryAtMs !== null) && (
        <button type="button" class="button button-small" onClick={props.retryNow}>
          Try now
        </button>
      )}
    </div>
  );
}

const announcementPauseMs = 4000;

/** For screen readers: at most one announcement within the pause, and of many only the last: they would never stop. */
export function Announcement({ text }: { readonly text: string }) {
  const [announced, setAnnounced] = useState("");
  const notBeforeMs = useRef(0);
  useEffect(() => {
    if (text === announced) return undefined;
    const announce = () => {
      notBeforeMs.current = performance.now() + announcementPauseMs;
      setAnnounced(text);
    };
    const timer = setTimeout(announce, notBeforeMs.current - performance.now());
    return () => clearTimeout(timer);
  }, [text, announced]);
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {announced}
    </p>
  );
}
