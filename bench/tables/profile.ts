import type { Profile } from "../profile.ts";
import { readResult } from "./results.ts";

export async function profileSection(): Promise<string> {
  return profileTable((await readResult<Readonly<Record<string, Profile>>>("profile")).figures);
}

/** Parts that are a hundredth anywhere, in the order of their largest share. */
function profileTable(profiles: Readonly<Record<string, Profile>>): string {
  const columns = Object.values(profiles);
  const largest = (part: string) => Math.max(...columns.map(({ shares }) => shares[part] ?? 0));
  const parts = Array.from(new Set(columns.flatMap(({ shares }) => Object.keys(shares))))
    .filter((part) => largest(part) >= 0.01)
    .toSorted((one, other) => largest(other) - largest(one));
  const percent = (share: number) => (share < 0.005 ? "–" : `${(share * 100).toFixed(0)} %`);
  return [
    `| | ${Object.keys(profiles).join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    ...parts.map((part) => `| ${part} | ${columns.map(({ shares }) => percent(shares[part] ?? 0)).join(" | ")} |`),
    `| beside that, of the time: idle | ${columns.map(({ idleShare }) => percent(idleShare)).join(" | ")} |`,
  ].join("\n");
}
