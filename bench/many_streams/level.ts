import { pause } from "../../shared/abortable.ts";
import { cpuOf, openAll, residentOf, type ManyStreams } from "./run.ts";
import { readMachineMemory, type MachineMemory } from "./machine_memory.ts";
import { median } from "../statistics.ts";
import { spreadOf, type Spread } from "./holders.ts";

/** What a number of open streams takes. */
export interface Level {
  readonly streams: number;
  readonly opensPerSecond: number;
  /** CPU time of the gateways for opening one. */
  readonly openCpuMicroseconds: number;
  /** Resident memory of the gateways that the streams added, for each. */
  readonly bytesPerStream: number;
  /** The kernel's, of both ends of each. */
  readonly kernelBytesPerStream: number;
  readonly heartbeats: number;
  /** CPU time of the gateways for a heartbeat, with everything else that goes on in idle ones. */
  readonly heartbeatCpuMicroseconds: number;
  readonly idleCpuShare: number;
  /** The longest that a stream received nothing. */
  readonly maxSilenceMs: number;
  /** An event to all: the median and the longest time until the last stream has it. */
  readonly untilLastMs: number;
  readonly maxUntilLastMs: number;
  readonly delivery: Spread;
  /** CPU time of the gateways for one event of one stream. */
  readonly deliveryCpuMicroseconds: number;
}

interface Before {
  readonly resident: number;
  readonly machine: MachineMemory;
}

/** Two rounds: a stream's heartbeat comes after 9.75 to 12.75 s. */
const idleMs = 26_000;
const eventsToAll = 20;

/** Opens streams until there are this many, leaves them idle, then sends events to all, one after another. */
export async function measureLevel(run: ManyStreams, streams: number, before: Before): Promise<Level> {
  const { holders, gateways, say } = run;
  const openBefore = (await holders.report()).open;
  const cpuBefore = await cpuOf(gateways);
  const seconds = await openAll(run, streams);
  const opened = streams - openBefore;
  const openCpuSeconds = (await cpuOf(gateways)) - cpuBefore;
  const level = {
    streams,
    opensPerSecond: opened / seconds,
    openCpuMicroseconds: (openCpuSeconds / opened) * 1e6,
    ...(await measureIdle(run, streams, before)),
    ...(await measureToAll(run, streams)),
  };
  say(
    `${streams} streams: ${level.opensPerSecond.toFixed(0)} opened a second, ${(level.bytesPerStream / 1024).toFixed(1)} KiB each ` +
      `and ${(level.kernelBytesPerStream / 1024).toFixed(1)} of the kernel, ${level.heartbeatCpuMicroseconds.toFixed(1)} µs a heartbeat, ` +
      `silent at most ${(level.maxSilenceMs / 1000).toFixed(1)} s; an event to all after ${level.untilLastMs.toFixed(0)} ms, ` +
      `p50 ${level.delivery.p50Ms.toFixed(0)}, p99 ${level.delivery.p99Ms.toFixed(0)}, ${level.deliveryCpuMicroseconds.toFixed(1)} µs each`,
  );
  return level;
}

async function measureIdle({ holders, gateways }: ManyStreams, streams: number, before: Before) {
  holders.reset();
  const cpu = await cpuOf(gateways);
  await pause(idleMs, []);
  const cpuSeconds = (await cpuOf(gateways)) - cpu;
  const { heartbeats, withoutHeartbeat, maxSilenceMs } = await holders.report();
  if (withoutHeartbeat > 0) throw new Error(`${withoutHeartbeat} of ${streams} streams got no heartbeat`);
  const machine = await readMachineMemory();
  const kernelBytes = machine.slab - before.machine.slab + machine.tcpBuffers - before.machine.tcpBuffers;
  return {
    bytesPerStream: ((await residentOf(gateways)) - before.resident) / streams,
    kernelBytesPerStream: kernelBytes / streams,
    heartbeats,
    heartbeatCpuMicroseconds: (cpuSeconds / heartbeats) * 1e6,
    idleCpuShare: cpuSeconds / (idleMs / 1000),
    maxSilenceMs,
  };
}

async function measureToAll({ holders, events, gateways }: ManyStreams, streams: number) {
  holders.reset();
  const cpu = await cpuOf(gateways);
  const times: number[] = [];
  for (let count = 0; count < eventsToAll; count += 1) {
    const sentNs = events.publishToAll();
    times.push(((await holders.untilAllHave(events.sharedNumber, 60_000)) - sentNs) / 1e6);
  }
  const cpuSeconds = (await cpuOf(gateways)) - cpu;
  const delivery = spreadOf((await holders.report()).toAll);
  if (delivery.count !== streams * eventsToAll)
    throw new Error(`${delivery.count} deliveries of ${streams} × ${eventsToAll}`);
  return {
    untilLastMs: median(times),
    maxUntilLastMs: Math.max(...times),
    delivery,
    deliveryCpuMicroseconds: (cpuSeconds / delivery.count) * 1e6,
  };
}
