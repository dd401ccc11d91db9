import type { PeerFigures, PeerOutcome } from "../peers/peers.ts";
import { machineText, readResult } from "./results.ts";

const ours = "gateway (node)";

export async function peersSection(): Promise<string> {
  const result = await readResult<Readonly<Record<string, Readonly<Record<string, PeerOutcome>>>>>("peers");
  const tables = Object.entries(result.figures).map(([mode, servers]) => modeTable(mode, servers));
  return [`${machineText(result)}.`, ...tables].join("\n\n");
}

function modeTable(mode: string, servers: Readonly<Record<string, PeerOutcome>>): string {
  const gateway = servers[ours]?.figures ?? null;
  if (gateway === null) throw new TypeError(`The figures of ${mode} have no row of ${ours}`);
  return [
    `| ${mode} | events | ours ÷ its | CPU for each | its CPU ÷ ours | p50 | p99 |`,
    "|---|---|---|---|---|---|---|",
    ...Object.entries(servers).map(([name, outcome]) => `| ${name} | ${cells(outcome, gateway).join(" | ")} |`),
  ].join("\n");
}

function cells({ figures, leftOut }: PeerOutcome, gateway: PeerFigures): readonly string[] {
  if (figures === null) return [leftOut.join("; "), "", "", "", "", ""];
  const { eventsPerSecond, cpuMicroseconds, brokerCpuMicroseconds, p50Ms, p99Ms } = figures;
  const others = leftOut.length === 0 ? "" : ` (${leftOut.length} of the rounds left out: ${leftOut.join("; ")})`;
  const redis = brokerCpuMicroseconds === 0 ? "" : `, Redis ${brokerCpuMicroseconds.toFixed(2)} µs`;
  return [
    `${(eventsPerSecond / 1000).toFixed(0)} k/s${others}`,
    (gateway.eventsPerSecond / eventsPerSecond).toFixed(2),
    `${cpuMicroseconds.toFixed(2)} µs${redis}`,
    (cpuOf(figures) / cpuOf(gateway)).toFixed(2),
    `${p50Ms.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
  ];
}

/** For everything behind a stream. */
function cpuOf({ cpuMicroseconds, brokerCpuMicroseconds }: PeerFigures): number {
  return cpuMicroseconds + brokerCpuMicroseconds;
}
