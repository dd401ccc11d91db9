import { formatCount, formatOrg } from "../../model/format.ts";
import { outcomeText } from "../../../../shared/outcome_text.ts";
import { toCounts } from "../../scan_wire.ts";
import type { ListStore } from "../../model/list_store.ts";
import { pulseOf } from "../../model/monitor_pulse.ts";
import type { Monitor } from "../../monitor_wire.ts";
import { MiniBar, MoreButton } from "../basics.tsx";
import { useNow } from "../hooks.ts";
import { PulseBadge } from "./pulse.tsx";

/** The organizations that are watched, each with its present state; nothing where none exists. */
export function MonitorList(props: {
  readonly store: ListStore<Monitor>;
  readonly selectedId: string | null;
  /** False: this page is not connected, and what was alive need no longer be. */
  readonly isLive: boolean;
  /** By the gateway's clock. */
  readonly nowMs: () => number;
}) {
  const { store, isLive } = props;
  const { items, problem } = store;
  useNow();
  const now = props.nowMs();
  if (items.length === 0) return null;
  return (
    <nav class="scans" aria-labelledby="monitors-title">
      <h2 id="monitors-title">Organizations</h2>
      <p class="problem tinted tone-manual" role="status">
        {problem}
      </p>
      <ul class="scan-list stack">
        {items.map((monitor) => (
          <li key={monitor.id}>
            <a
              class="scan-link monitor-link stack"
              href={`#/monitors/${monitor.id}`}
              aria-current={monitor.id === props.selectedId ? "page" : undefined}
            >
              <span class="row spread">
                <span class="strong one-line">{formatOrg(monitor)}</span>
                <PulseBadge pulse={isLive ? pulseOf(monitor, now) : "unknown"} />
              </span>
              <MiniBar counts={monitor} />
              <span class="fine">{outcomeText((state) => formatCount(toCounts(monitor)[state]))}</span>
            </a>
          </li>
        ))}
      </ul>
      <MoreButton list={store} />
    </nav>
  );
}
