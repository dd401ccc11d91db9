import { isDay } from "../../../../shared/decisions/expiry.ts";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { dayMs, formatTime, toDay } from "../../model/format.ts";
import type { RulesView } from "../../model/route.ts";
import { hasEnded } from "../../model/tenant_state.ts";

interface AsOfChoiceProps {
  readonly scans: readonly Scan[];
  readonly orgUrl: string | null;
  readonly value: string | null;
  readonly change: (changed: Partial<RulesView>) => void;
  readonly now: number;
}

const listedScans = 30;

/** Now, a run, or a day of the last 90. */
export function AsOfChoice({ scans, orgUrl, value, change, now }: AsOfChoiceProps) {
  const own = scans.filter(({ org_url: url, status }) => url === orgUrl && hasEnded(status)).slice(0, listedScans);
  const isShownDay = isDay(value ?? "");
  const isListed = value === null || isShownDay || own.some(({ id }) => id === value);
  return (
    <div class="as-of row wrap">
      <label class="row">
        As of
        <select
          value={isShownDay ? "" : (value ?? "now")}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "now" ? null : currentTarget.value })}
        >
          <option value="now">now</option>
          {isShownDay && <option value="">{value}</option>}
          {!isListed && value !== null && <option value={value}>this scan</option>}
          {own.map(({ id, created_at: createdAt, status }) => (
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
          min={toDay(now - 89 * dayMs)}
          max={toDay(now)}
          value={isShownDay ? (value ?? "") : ""}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "" ? null : currentTarget.value })}
        />
      </label>
    </div>
  );
}
