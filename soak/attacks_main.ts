import { once } from "node:events";
import { fork, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { abortable } from "../shared/abortable.ts";
import { attacks, type Attack } from "./attacks.ts";
import type { Attacking } from "./attacker.ts";
import { createControlGroup } from "./control_groups.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { startWorkerProcess } from "./worker_process.ts";
import { useAsVictim, type GatewayUse, type VictimFigures } from "./victim.ts";

const usage = `Usage: npm run attacks -- [--seconds N] [--minutes N] [--tenants N] [--only NAME] [--runtime node|deno|workerd]
       ATTACKER_API_KEY=… VICTIM_API_KEY=… npm run attacks -- --url URL
Tenants attack a gateway and another one uses it: one attack after the other, or with --minutes all of them together.
Without --url the built gateway is started with 1 GiB. The keys have the scopes read, publish and admin.`;

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    seconds: { type: "string", default: "10" },
    minutes: { type: "string", default: "0" },
    tenants: { type: "string", default: "1" },
    only: { type: "string" },
    runtime: { type: "string", default: "node" },
  },
});
const [seconds, minutes, tenants] = [values.seconds, values.minutes, values.tenants].map(Number) as [
  number,
  number,
  number,
];
const chosen = attacks.filter(({ name }) => values.only === undefined || name === values.only);
const { runtime } = values;
if (
  (runtime !== "node" && runtime !== "deno" && runtime !== "workerd") ||
  !(seconds > 0) ||
  !(minutes >= 0) ||
  !(tenants >= 1) ||
  chosen.length === 0
) {
  console.error(`${usage}\nAttacks: ${attacks.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

/** As the Helm chart has it. */
const memoryBytes = 1024 * 1_048_576;
/** A busy machine answers later by itself. */
const leastBoundMs = 100;

/** What was begun is finished first, and everything that was opened is closed: a control group that is left would stay forever. */
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

await using opened = new AsyncDisposableStack();
const groups = await createGroups();
const children = new Set<ChildProcess>();
const target = values.url === undefined ? await startTarget(runtime) : givenTarget(values.url);
opened.defer(endAttackers);
const failures: string[] = [];
console.log("| | attack | what it tried | what holds | the victim | the gateway |\n|---|---|---|---|---|---|");
await abortable(minutes > 0 ? attackTogether() : attackOneByOne(), stopping.signal).catch((error: unknown) => {
  if (!stopping.signal.aborted) throw error;
  failures.push("the attacks after this: it was stopped");
});
console.log(failures.length === 0 ? "Every attack was held." : `Not held: ${failures.join(", ")}`);
await opened.disposeAsync();
process.exit(failures.length === 0 ? 0 : 1);

async function attackTogether(): Promise<void> {
  const before = await measure(seconds * 1000);
  const running = await Promise.all(chosen.map(({ name }) => startAttack(name)));
  const during: Measured[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) during.push(await measure(60_000));
  const reached = await Promise.all(running.map((attack) => attack.stop()));
  const after = await measure(seconds * 1000);
  const times = reached.reduce((sum, count) => sum + count, 0);
  const all = {
    name: "all together",
    tries: `${tenants} tenants, ${times} connections and requests`,
    holds: "all of the above",
  };
  for (const [index, minute] of during.entries())
    report({ ...all, name: `minute ${index + 1}` }, minute, [before, after]);
}

async function attackOneByOne(): Promise<void> {
  let before = await measure(seconds * 1000);
  for (const attack of chosen) {
    const running = await startAttack(attack.name);
    const during = await measure(seconds * 1000);
    const reached = await running.stop();
    // What others do on this machine slows the victim, too: it is measured alone on both sides of each attack.
    const after = await measure(seconds * 1000);
    report({ ...attack, tries: `${attack.tries} (${reached} in all)` }, during, [before, after]);
    before = after;
  }
}

async function endAttackers(): Promise<void> {
  const ended = [...children].map((child) => once(child, "exit"));
  for (const child of children) child.kill();
  await Promise.all(ended);
}

/** The attackers share this machine with the gateway and with the victim's clock, and take the processor from neither. */
async function createGroups() {
  try {
    setPriority(-10);
  } catch {
    console.error("Run as root to keep attackers and other programs of this machine out of the figures");
  }
  const create = async (name: string, weight: number, memory: { readonly memoryBytes?: number } = {}) => {
    const group = await createControlGroup(`scanstream-${name}-${process.pid}`, { weight, ...memory });
    if (group !== null) opened.defer(() => group.remove());
    return group;
  };
  const measured = await create("measured", 10_000);
  await measured?.add(process.pid);
  const gateway = await create("gateway", 10_000, { memoryBytes });
  if (gateway === null)
    console.error("No control group can be had here: the gateway's memory is shown, and not bounded");
  return { attackers: await create("attackers", 300), gateway };
}

async function startAttack(name: string) {
  const attackers = target.uses.map((use) => {
    stopping.signal.throwIfAborted();
    const child = fork(join(import.meta.dirname, "attacker.ts"));
    children.add(child);
    child.once("exit", () => children.delete(child));
    if (child.pid !== undefined) void groups.attackers?.add(child.pid);
    let reached = 0;
    const isThere = once(child, "message").then(() => {
      child.on("message", (said: { readonly reached: number }) => {
        ({ reached } = said);
        child.disconnect();
      });
    });
    return { use, child, isThere, ended: once(child, "exit").then(() => reached) };
  });
  await Promise.all(attackers.map(({ isThere }) => isThere));
  for (const { child, use } of attackers) child.send({ name, use } satisfies Attacking);
  return {
    /** Resolves with how often they came through to the gateway: an attack that never did has shown nothing. */
    async stop(): Promise<number> {
      for (const { child } of attackers) if (child.connected) child.send("stop");
      const reached = await Promise.all(attackers.map(({ ended }) => ended));
      if (reached.some((times) => times < 3)) failures.push(`"${name}" came through ${reached.join(", ")} times only`);
      return reached.reduce((sum, times) => sum + times, 0);
    },
  };
}

interface Measured {
  readonly victim: VictimFigures;
  /** Null: of a gateway elsewhere. */
  readonly rssBytes: number | null;
}

async function measure(durationMs: number): Promise<Measured> {
  const victim = await useAsVictim(target.uses[0], durationMs).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return { requests: 0, failed: 1, reasons: {}, p50Ms: 0, p99Ms: 0, lost: 0 };
  });
  return { victim, rssBytes: await target.rssBytes() };
}

/** The victim's p99 may be twice what it is alone, nothing may fail or be lost, and the memory is the chart's. */
function report({ name, tries, holds }: Omit<Attack, "run">, during: Measured, alone: readonly Measured[]): void {
  if (stopping.signal.aborted) return;
  const { requests, failed, reasons, p50Ms, p99Ms, lost } = during.victim;
  const aloneMs = Math.max(...alone.map(({ victim }) => victim.p99Ms));
  const boundMs = Math.max(2 * aloneMs, leastBoundMs);
  const isHeld = failed === 0 && lost === 0 && p99Ms <= boundMs && (during.rssBytes ?? 0) <= memoryBytes;
  if (!isHeld) failures.push(name);
  const memory = during.rssBytes === null ? "" : `${Math.round(during.rssBytes / 1_048_576)} MiB`;
  const why =
    failed === 0
      ? ""
      : ` (${Object.entries(reasons)
          .map(([reason, count]) => `${count} × ${reason}`)
          .join("; ")})`;
  const figures = `p50 ${p50Ms} ms, p99 ${p99Ms} ms (alone ${aloneMs}), ${failed} of ${requests} failed${why}, ${lost} events lost`;
  console.log(`| ${isHeld ? "held" : "NOT HELD"} | ${name} | ${tries} | ${holds} | ${figures} | ${memory} |`);
}

interface Target {
  /** One for each tenant that attacks. */
  readonly uses: readonly [GatewayUse, ...GatewayUse[]];
  /** Null: of a gateway elsewhere. */
  rssBytes(): Promise<number | null>;
}

function givenTarget(url: string): Target {
  const { ATTACKER_API_KEY: attackerKey, VICTIM_API_KEY: victimKey } = process.env;
  if (attackerKey === undefined || victimKey === undefined) {
    console.error(`ATTACKER_API_KEY and VICTIM_API_KEY are required with --url\n${usage}`);
    process.exit(2);
  }
  return { uses: [{ url, attackerKey, victimKey }], rssBytes: async () => null };
}

async function startTarget(runtime: "node" | "deno" | "workerd"): Promise<Target> {
  const servers = await startEnvironment();
  opened.defer(() => servers.close());
  const cwd = await mkdtemp(join(tmpdir(), "scanstream-attacks-"));
  opened.defer(() => rm(cwd, { recursive: true, force: true }));
  const { directEnvironment: environment } = servers;
  const onStarted = async (pid: number) => groups.gateway?.add(pid);
  const gateway =
    runtime === "workerd"
      ? await startWorkerProcess({ environment, onStarted })
      : await startGatewayProcess({ environment, cwd, program: "dist/scanstream.js", runtime, onStarted });
  opened.defer(async () => void (await gateway.stop()));
  const keyOf = async (name: string) => {
    const { id: tenant } = (await servers.admin("tenant.create", { name })) as { readonly id: string };
    const key = await servers.admin("api-key.create", { tenant, name, scopes: "read,publish,admin" });
    return (key as { readonly api_key: string }).api_key;
  };
  const { url } = gateway;
  const victimKey = await keyOf("Victim");
  const first = { url, victimKey, attackerKey: await keyOf("Attacker 1") };
  const uses: [GatewayUse, ...GatewayUse[]] = [first];
  while (uses.length < tenants) uses.push({ ...first, attackerKey: await keyOf(`Attacker ${uses.length + 1}`) });
  return { uses, rssBytes: async () => (await gateway.outside()).rssBytes };
}
