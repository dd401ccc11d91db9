import { element, setClass, setText } from "./dom.ts";
import { formatClock } from "./format.ts";
import type { Connection } from "./scan_follower.ts";

export interface ConnectionView {
  readonly element: HTMLElement;
  update(connection: Connection): void;
}

/** Says honestly how fresh the page is: never "live" while it is not. */
export function createConnectionView(actions: { readonly retryNow: () => void }): ConnectionView {
  const dot = element("span", { class: "dot", attributes: { "aria-hidden": "true" } });
  const label = element("strong", { attributes: { role: "status" } });
  const detail = element("span", { class: "connection-detail" });
  const retry = element("button", {
    class: "button button-small",
    text: "Try now",
    attributes: { type: "button" },
    on: { click: actions.retryNow },
  });
  const box = element("div", { class: "connection", attributes: { "data-state": "connecting" } }, [
    dot,
    label,
    detail,
    retry,
  ]);
  return {
    element: box,
    update(connection) {
      box.setAttribute("data-state", connection.state);
      setClass(box, `connection connection-${connection.state}`);
      setText(label, words[connection.state]);
      setText(detail, toDetail(connection, Date.now()));
      retry.hidden = connection.state !== "failed" && connection.retryAtMs === null;
    },
  };
}

const words: Readonly<Record<Connection["state"], string>> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  ended: "Ended",
  failed: "Not connected",
};

function toDetail({ state, problem, retryAtMs, refetchedAtMs, openCount }: Connection, nowMs: number): string {
  const parts: string[] = [];
  if (problem !== null && state !== "live") parts.push(problem);
  if (retryAtMs !== null) parts.push(`next try in ${Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000))} s`);
  if (state === "live" && openCount > 1 && refetchedAtMs !== null) {
    parts.push(`reconnected, refetched at ${formatClock(refetchedAtMs)}`);
  }
  return parts.join(" · ");
}
