import type { Connection } from "./connection.ts";
import type { OverviewRow } from "./overview.ts";

/** The worst thing that is known now, for the title and the icon. */
export interface Attention {
  readonly level: "off" | "fail" | "warn" | "none";
  /** Empty: nothing calls for attention. */
  readonly words: string;
}

const blindStates: readonly unknown[] = ["stale", "blind"];

/** Not being connected is worse than anything that was known before. */
export function toAttention(rows: readonly OverviewRow[], { state }: Pick<Connection, "state">): Attention {
  if (state === "reconnecting" || state === "failed") return { level: "off", words: "not live" };
  const present = rows.filter(({ isEnded }) => !isEnded);
  const cat1 = present.reduce((sum, { organization }) => sum + organization.cat1_open, 0);
  if (cat1 > 0) return { level: "fail", words: `${cat1} CAT I` };
  const blind = present.filter(({ watch }) => blindStates.includes(watch)).length;
  return blind > 0 ? { level: "warn", words: `${blind} not watched` } : { level: "none", words: "" };
}
