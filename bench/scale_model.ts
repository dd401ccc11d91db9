import type { HundredThousandFigures } from "./hundred_thousand.ts";
import { readResult } from "./tables/results.ts";
import type { WorkersFigures } from "./workers.ts";

/**
 * What a number of open streams takes, past one machine: `node bench/scale_model.ts [streams]` prints the tables of
 * `docs/scale.md`. Measurements are read from `results/`; what is cited or assumed stands here with its source.
 */
const streams = Number(process.argv[2] ?? 100_000);

/** Dashboards that are busy all month: adjust to what you run. */
const load = {
  /** Streams that follow the same channel, on average. */
  streamsPerChannel: 20,
  /** Of one channel, a second. */
  eventsPerSecond: 0.5,
  eventBytes: 150,
  streamsPerTenant: 500,
  /** Default lifetime of 3,600 s, less up to a fifth. */
  lifetimeSeconds: 3240,
};

/** Of a core, so that a burst finds room. */
const cpuHeadroom = 0.5;
const secondsPerMonth = 730 * 3600;

const prices = {
  /**
   * https://developers.cloudflare.com/durable-objects/platform/pricing/, read in November 2026; what the plan includes is left out. Duration is
   * billed while an object runs or cannot hibernate, not while it is idle and could.
   */
  durableObjectGbSecond: 12.5 / 1e6,
  durableObjectGb: 0.128,
  durableObjectRequest: 0.15 / 1e6,
  /** https://developers.cloudflare.com/workers/platform/pricing/ */
  workerRequest: 0.3 / 1e6,
  workerCpuMs: 0.02 / 1e6,
  /** https://deno.com/deploy/pricing, as listed for Pro in May 2026. */
  denoGbHour: 0.016,
  denoCpuHour: 0.05,
  denoRequest: 2 / 1e6,
  denoGb: 0.5,
  /** https://upstash.com/pricing/redis, pay as you go; 200 GB of traffic a month are free. */
  upstashCommand: 0.2 / 1e5,
  upstashGb: 0.03,
  upstashFreeGb: 200,
  /** A rented machine of 2 cores and 4 GiB: assumed. */
  machine: 25,
};
/** https://developers.cloudflare.com/durable-objects/platform/limits/: an object's isolate. */
const objectBytes = 128 * 2 ** 20;
/** The default of `EVENTSTREAM_MAX_STREAMS_PER_TENANT`, which is an object's on Workers. */
const maxStreamsPerObject = 1000;
const machine = { cores: 2, usableBytes: 3 * 2 ** 30 };
const maxStreamsPerProcess = 50_000;

const { levels, load: measuredLoad, storm } = (await readResult<HundredThousandFigures>("hundred_thousand")).figures;
const many = levels.at(-1);
if (many === undefined) throw new Error("No figures of many streams: run `npm run bench -- hundred_thousand` first");
/** Beside V8's own. Measured with both ends on one machine: half of it is the gateway's. */
const kernelBytesPerStream = many.kernelBytesPerStream / 2;
/** Of a delivery where a channel has 20 streams over six processes: four times that of a channel with a thousand. */
const deliveryMicroseconds = (measuredLoad.cpuShare / measuredLoad.deliveriesPerSecond) * 1e6;
/** In a storm, of two cores with clients, database and broker on them. */
const opensPerMachine = storm.back / storm.seconds;
const idleMicrosecondsPerSecond = (many.idleCpuShare / many.streams) * 1e6;

const node = await measured("gateway (node)");
const deno = await measured("gateway (deno, portable sink)");
const opensPerSecond = await measuredOpening();
const object = await measuredObject();

const channels = streams / load.streamsPerChannel;
const publishedPerSecond = channels * load.eventsPerSecond;
const deliveriesPerSecond = streams * load.eventsPerSecond;
const opensPerMonth = (streams / load.lifetimeSeconds) * secondsPerMonth;
const gbPerMonth = (deliveriesPerSecond * load.eventBytes * secondsPerMonth) / 1e9;

const deliveriesPerCore = (1e6 / deliveryMicroseconds) * cpuHeadroom;
const coresForEvents = deliveriesPerSecond / deliveriesPerCore;
const coresForIdle = (streams * idleMicrosecondsPerSecond) / 1e6 / cpuHeadroom;
const coresForOpening = streams / load.lifetimeSeconds / (opensPerSecond * cpuHeadroom);
const bytesPerStream = many.bytesPerStream + kernelBytesPerStream;
const processes = Math.max(
  Math.ceil(coresForEvents + coresForIdle + coresForOpening),
  Math.ceil(streams / maxStreamsPerProcess),
);
const machines = Math.max(
  Math.ceil(processes / machine.cores),
  Math.ceil((streams * bytesPerStream) / machine.usableBytes),
);
/** A process receives a channel's message once, and only when one of the channel's streams is its own. */
const brokerMessages = publishedPerSecond * processes * (1 - (1 - 1 / processes) ** load.streamsPerChannel);

print("One process on Node", [
  ["memory a stream", `${kib(many.bytesPerStream)} resident, ${kib(kernelBytesPerStream)} in the kernel`],
  ["file descriptors", "1 a stream; `ulimit -n` above `EVENTSTREAM_MAX_STREAMS`"],
  ["streams in 1 GiB", whole(2 ** 30 / bytesPerStream)],
  [
    "deliveries a second and core",
    `${whole(1e6 / node.cpuMicroseconds)} to 1,000 streams of a channel, ${whole(1e6 / deliveryMicroseconds)} to 20 over six processes; planned with ${whole(deliveriesPerCore)}`,
  ],
  ["streams opened a second", whole(opensPerSecond)],
]);

print(`${whole(streams)} open streams, ${whole(channels)} channels, ${load.eventsPerSecond} events a second each`, [
  ["deliveries a second", whole(deliveriesPerSecond)],
  ["cores for them", coresForEvents.toFixed(1)],
  ["cores for heartbeats and rechecks", coresForIdle.toFixed(2)],
  ["cores for streams that reach their lifetime and come back", coresForOpening.toFixed(2)],
  ["processes, machines of 2 cores and 4 GiB", `${processes}, ${machines}`],
  ["published to the broker a second", whole(publishedPerSecond)],
  ["sent by the broker a second", `${whole(brokerMessages)}: one for each process that follows the channel`],
  ["memory", `${((streams * bytesPerStream) / 2 ** 30).toFixed(1)} GiB`],
  ["traffic a month", `${whole(gbPerMonth)} GB of events`],
]);

print("A storm: every stream is cut at once and comes back", [
  ["clients reconnect within", "1 to 5 s by `retry:`, in 32 steps, when the gateway closes them"],
  ["opened a second then", whole(streams / 4)],
  ["opened a second by these machines", `${whole(opensPerMachine * machines)}, with clients and database on them`],
  ["until all are back", `${Math.max(5, streams / (opensPerMachine * machines)).toFixed(0)} s`],
  [
    `measured: ${whole(storm.streams)} on one such machine`,
    `${whole(storm.back)} back after ${storm.seconds.toFixed(0)} s`,
  ],
  ["with the default drain of 3 s, one process after another", `${whole(streams / processes / 7)} a second`],
]);

// As if all that workerd holds for a stream, the Worker's part and the connection included, were the object's.
const streamsByMemory = (objectBytes - object.emptyBytes) / object.residentBytesPerStream;
const deliveriesByCpu = (1e6 / object.cpuMicroseconds) * cpuHeadroom;
const streamsPerObject = Math.min(maxStreamsPerObject, streamsByMemory, deliveriesByCpu / load.eventsPerSecond);
const shards = (tenantStreams: number) => Math.ceil(tenantStreams / streamsPerObject);

print("One Durable Object, measured with its Worker in one process", [
  [
    "memory a stream",
    `${kib(object.heapBytesPerStream)} in V8's heap, ${kib(object.residentBytesPerStream)} resident with the Worker's part and the connection`,
  ],
  ["streams in 128 MiB, all that is resident counted", whole(streamsByMemory)],
  ["deliveries a second of half its thread", whole(deliveriesByCpu)],
  ["events a second to 1,000 streams of one channel", (deliveriesByCpu / 1000).toFixed(0)],
  [
    `streams that this is at ${load.eventsPerSecond} events a second each`,
    whole(deliveriesByCpu / load.eventsPerSecond),
  ],
  ["planned: the default limit of an object", whole(streamsPerObject)],
  ["opened a second, a channel each", whole((1e6 / object.openingMicroseconds) * cpuHeadroom)],
  [
    "`EVENTSTREAM_SHARDS_PER_TENANT` for a tenant of 1,000, 10,000, 100,000 streams",
    [1000, 10_000, 100_000].map((count) => whole(shards(count))).join(", "),
  ],
]);

const objects = (streams / load.streamsPerTenant) * shards(load.streamsPerTenant);
const objectCost = objects * prices.durableObjectGb * secondsPerMonth * prices.durableObjectGbSecond;
const workerRequests = opensPerMonth * (prices.durableObjectRequest + prices.workerRequest);
const workerCpu = opensPerMonth * (object.openingMicroseconds / 1000) * prices.workerCpuMs;
const denoMemory = ((streams * deno.bytesPerStream) / 1e9) * 730 * prices.denoGbHour;
const denoCpu = ((deliveriesPerSecond * deno.cpuMicroseconds) / 1e6) * 730 * prices.denoCpuHour;
const upstash =
  publishedPerSecond * secondsPerMonth * prices.upstashCommand +
  Math.max(0, (brokerMessages * load.eventBytes * secondsPerMonth) / 1e9 - prices.upstashFreeGb) * prices.upstashGb;

print(`A month of ${whole(streams)} open streams, in dollars, without database and traffic`, [
  [
    "Workers",
    `${whole(objectCost + workerRequests + workerCpu)}: ${whole(objects)} Durable Objects that are always awake ${whole(objectCost)}, requests ${whole(workerRequests)}, CPU ${whole(workerCpu)}`,
  ],
  [
    "Deno Deploy",
    `${whole(denoMemory + denoCpu + opensPerMonth * prices.denoRequest)}: memory ${whole(denoMemory)}, CPU ${whole(denoCpu)}, requests ${whole(opensPerMonth * prices.denoRequest)}; its traffic would be ${whole(gbPerMonth * prices.denoGb)} more`,
  ],
  ["machines", `${whole(machines * prices.machine)}: ${machines} of 2 cores and 4 GiB, at ${prices.machine} each`],
  ["Upstash as the broker", `${whole(upstash)}: each publish is a command; a Redis of one's own has no such price`],
]);

/** Rare: each channel has an event every five minutes. */
const webSocketRows = [load.eventsPerSecond, 1 / 300].map((eventsPerSecond) => {
  const events = channels * eventsPerSecond * secondsPerMonth;
  // An event is a request to the object, which is awake for as long as its writes take; an opening like one of ours.
  const awakeSeconds =
    (events * load.streamsPerChannel * object.cpuMicroseconds + opensPerMonth * object.openingMicroseconds) / 1e6;
  const duration = awakeSeconds * prices.durableObjectGb * prices.durableObjectGbSecond;
  const sockets = duration + events * prices.durableObjectRequest + workerRequests + workerCpu;
  const ours = objectCost + workerRequests + workerCpu;
  const published = events * prices.upstashCommand;
  return [
    eventsPerSecond >= 0.1 ? `${eventsPerSecond} events a second` : `an event every ${whole(1 / eventsPerSecond)} s`,
    `event streams ${whole(ours)} and ${whole(published)} of Upstash's commands; hibernating WebSockets ${whole(sockets)}: ` +
      `duration ${whole(duration)}, events as requests ${whole(events * prices.durableObjectRequest)}, opening ${whole(workerRequests + workerCpu)}`,
  ] as const;
});
print(
  `The same on Workers by the events of a channel, beside hibernating WebSockets, in dollars a month`,
  webSocketRows,
);

interface Measured {
  readonly cpuMicroseconds: number;
  readonly bytesPerStream: number;
}

type Figures = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;

async function measured(server: string): Promise<Measured> {
  const fanOut = await figures("fan_out");
  const memory = await figures("memory");
  const cpuMicroseconds = fanOut["F1 1 channel, 1,000 streams"]?.[server]?.["cpuMicroseconds"];
  const perStream = memory["M1 10,000 idle streams"]?.[server]?.["bytesPerStream"];
  if (cpuMicroseconds === undefined || perStream === undefined) {
    throw new Error(`No figures of ${server}: run \`npm run bench -- fan_out memory opening\` first`);
  }
  return { cpuMicroseconds, bytesPerStream: perStream };
}

async function measuredOpening(): Promise<number> {
  const rate = (await figures("opening"))["C1 opening streams"]?.["one JWT"]?.["opensPerSecond"];
  if (rate === undefined) throw new Error("No figures of opening: run `npm run bench -- opening` first");
  return rate;
}

/** By the Worker in workerd itself. */
async function measuredObject() {
  const { figures } = await readResult<WorkersFigures>("workers");
  const { heap } = figures;
  const server = figures.servers["workerd"];
  const cpuMicroseconds = server?.fanOut[1000]?.["one after another"].cpuMicroseconds;
  if (server === undefined || cpuMicroseconds === undefined) throw new Error("No figures of workerd");
  return {
    cpuMicroseconds,
    openingMicroseconds: server.opening["a channel each"].cpuMicroseconds,
    heapBytesPerStream: heap.bytesPerStream,
    residentBytesPerStream: server.memory.bytesPerStream,
    emptyBytes: heap.emptyMiB * 2 ** 20,
  };
}

async function figures(name: string): Promise<Figures> {
  return (await readResult<Figures>(name)).figures;
}

function print(title: string, rows: readonly (readonly [string, string])[]): void {
  const lines = rows.map(([name, value]) => `| ${name} | ${value} |`);
  process.stdout.write(`\n| ${title} | |\n|---|---|\n${lines.join("\n")}\n`);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
