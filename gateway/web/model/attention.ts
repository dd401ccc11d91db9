import { checkTitle } from "./check_catalog.ts";
import type { Connection } from "./connection.ts";
import type { OverviewRow } from "./overview.ts";
import type { Change } from "../monitor_wire.ts";

/** The worst thing that is known now, for the title and the icon. */
export interface Attention {
  readonly level: "off" | "fail" | "warn" | "none";
  /** Empty: nothing calls for attention. */
  readonly words: string;
}

/** Something that happened since the person looked. */
export interface Alarm {
  /** The same in every tab of a browser. */
  readonly key: string;
  readonly text: string;
  readonly address: string;
}

/** What of an organization is compared with what was there before. */
export interface Seen {
  readonly cat1: number;
  readonly isBlind: boolean;
}

const blindPulses: readonly unknown[] = ["stale", "blind"];

/** Not being connected is worse than anything that was known before. */
export function toAttention(
  rows: readonly OverviewRow[],
  { state }: Pick<Connection, "state">,
  unexplained: number,
): Attention {
  if (state === "reconnecting" || state === "failed") return { level: "off", words: "not live" };
  const present = rows.filter(({ isEnded }) => !isEnded);
  const cat1 = present.reduce((sum, { organization }) => sum + organization.cat1_open, 0);
  if (cat1 > 0) return { level: "fail", words: `${cat1} CAT I` };
  if (unexplained > 0) return { level: "fail", words: `${unexplained} unexplained` };
  const blind = present.filter(({ pulse }) => blindPulses.includes(pulse)).length;
  return blind > 0 ? { level: "warn", words: `${blind} not watched` } : { level: "none", words: "" };
}

export function toSeen(rows: readonly OverviewRow[]): ReadonlyMap<string, Seen> {
  return new Map(
    rows.map(({ organization: { id, cat1_open: cat1 }, pulse }) => [
      id,
      { cat1, isBlind: blindPulses.includes(pulse) },
    ]),
  );
}

/** What is worse than it was; an organization that was not known before is compared with one without failures. */
export function toAlarms(rows: readonly OverviewRow[], seen: ReadonlyMap<string, Seen>): readonly Alarm[] {
  return rows.flatMap(({ organization, pulse }) => {
    const { id, name, cat1_open: cat1 } = organization;
    const before = seen.get(id) ?? { cat1: 0, isBlind: false };
    const address = `#/organizations/${id}`;
    const alarms: Alarm[] = [];
    if (cat1 > before.cat1) {
      const text = `${name}: ${cat1 - before.cat1} more CAT I ${cat1 - before.cat1 === 1 ? "rule fails" : "rules fail"}, ${cat1} in all`;
      alarms.push({ key: `cat1 ${id} ${cat1}`, text, address });
    }
    if (blindPulses.includes(pulse) && !before.isBlind) {
      const text = `${name}: the monitor ${pulse === "stale" ? "no longer reports" : "cannot read the log"}`;
      alarms.push({ key: `${pulse} ${id}`, text, address });
    }
    return alarms;
  });
}

/** A change that no event of the log explains. */
export function toChangeAlarm({ organization: { id, name } }: OverviewRow, { id: changeId, check }: Change): Alarm {
  return {
    key: `change ${changeId}`,
    text: `${name}: a result changed, and no log event says why: ${checkTitle(check)}`,
    address: `#/organizations/${id}`,
  };
}
