import type { PeerFigures, PeerOutcome } from "../peers/peers.ts";
import { machineText, readResult } from "./results.ts";

const ours = "gateway (node)";

export async function peersSection(): Promise<string> {
  const result = await readResult<Readonly<Record<string, Readonly<Record<string, PeerOutcome>>>>>("peers");
  const tables = Object.entries(result.figures).map(([mode, servers]) => modeTable(mode, servers));
  return [`${machineText(result)}.`, ...tables].join("\n\n");
}

function modeTable(mode: string, servers: Readonly<Record<string, PeerOutcome>>): string {
  const gateway = servers[ours];
  if (gateway === undefined || "lost" in gateway) throw new TypeError(`The figures of ${mode} have none of ${ours}`);
  return [
    `| ${mode} | events | ours ÷ its | CPU for each | its CPU ÷ ours | p50 | p99 |`,
    "|---|---|---|---|---|---|---|",
    ...Object.entries(servers).map(([name, outcome]) => `| ${name} | ${cells(outcome, gateway).join(" | ")} |`),
  ].join("\n");
}

function cells(outcome: PeerOutcome, gateway: PeerFigures): readonly string[] {
  if ("lost" in outcome) return [outcome.lost, "", "", "", "", ""];
  const { eventsPerSecond, cpuMicroseconds, brokerCpuMicroseconds, p50Ms, p99Ms } = outcome;
  const redis = brokerCpuMicroseconds === 0 ? "" : `, Redis ${brokerCpuMicroseconds.toFixed(2)} µs`;
  return [
    `${(eventsPerSecond / 1000).toFixed(0)} k/s`,
    (gateway.eventsPerSecond / eventsPerSecond).toFixed(2),
    `${cpuMicroseconds.toFixed(2)} µs${redis}`,
    (cpuOf(outcome) / cpuOf(gateway)).toFixed(2),
    `${p50Ms.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
  ];
}

/** Of everything behind a stream. */
function cpuOf({ cpuMicroseconds, brokerCpuMicroseconds }: PeerFigures): number {
  return cpuMicroseconds + brokerCpuMicroseconds;
}
