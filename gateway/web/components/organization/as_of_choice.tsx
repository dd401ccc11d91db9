import type { Scan } from "../../../../shared/schemas/scan.ts";
import { dayMs, formatTime, toDay } from "../../model/format.ts";
import { shownDays } from "../../model/organization_store.ts";
import type { RulesView } from "../../model/route.ts";
import { hasEnded } from "../../model/tenant_state.ts";

interface AsOfChoiceProps {
  readonly scans: readonly Scan[];
  readonly day: string | null;
  readonly scanId: string | null;
  readonly change: (changed: Partial<RulesView>) => void;
  readonly now: number;
}

const listedScans = 30;

/** Now, a run, or a day of the last 90. */
export function AsOfChoice({ scans, day, scanId, change, now }: AsOfChoiceProps) {
  const listed = scans.filter(({ status }) => hasEnded(status)).slice(0, listedScans);
  const isListed = scanId === null || listed.some(({ id }) => id === scanId);
  return (
    <div class="as-of row wrap">
      <label class="row">
        As of
        <select
          value={day === null ? (scanId ?? "now") : ""}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "now" ? null : currentTarget.value })}
        >
          <option value="now">now</option>
          {day !== null && <option value="">{day}</option>}
          {day === null && !isListed && <option value={scanId}>this scan</option>}
          {listed.map(({ id, created_at: createdAt, status }) => (
            <option key={id} value={id}>
              {`scan ${formatTime(Date.parse(createdAt))}${status === "completed" ? "" : `, ${status}`}`}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        <span class="fine">or the day</span>
        <input
          type="date"
          min={toDay(now - (shownDays - 1) * dayMs)}
          max={toDay(now)}
          value={day ?? ""}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "" ? null : currentTarget.value })}
        />
      </label>
    </div>
  );
}
