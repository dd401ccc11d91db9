import { once } from "node:events";
import { mkdir, mkdtemp, rmdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { attacks } from "./attacks.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { useAsVictim, type GatewayUse, type VictimFigures } from "./victim.ts";

const usage = `Usage: npm run attacks -- [--seconds N] [--minutes N] [--only NAME]
       ATTACKER_API_KEY=… VICTIM_API_KEY=… npm run attacks -- --url URL
One tenant attacks a gateway and another one uses it: one attack after the other, or with --minutes all of them together.
Without --url a gateway of 1 GiB is started for it. The keys have the scopes read, publish and admin.`;

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    seconds: { type: "string", default: "10" },
    minutes: { type: "string" },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const minutes = Number(values.minutes ?? 0);
const chosen = attacks.filter(({ name }) => values.only === undefined || name === values.only);
if (!(seconds > 0) || !(minutes >= 0) || chosen.length === 0) {
  console.error(`${usage}\nAttacks: ${attacks.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

/** As the Helm chart has it. */
const memoryBytes = 1024 * 1_048_576;
/** A busy machine answers later by itself. */
const leastBoundMs = 100;

await using opened = new AsyncDisposableStack();
const target = values.url === undefined ? await startTarget() : givenTarget(values.url);
console.log(`The victim alone, ${seconds} s`);
const alone = await useAsVictim(target.use, seconds * 1000);
console.log(toLine("alone", alone, await target.rssBytes()));
const boundMs = Math.max(2 * alone.p99Ms, leastBoundMs);
let hasHeld = true;
if (minutes > 0) {
  const running = chosen.map(({ name }) => startAttack(name));
  for (let minute = 1; minute <= minutes; minute += 1) await measure(`minute ${minute}, all attacks`, 60_000);
  await Promise.all(running.map((attack) => attack.stop()));
} else {
  for (const attack of chosen) {
    const running = startAttack(attack.name);
    await measure(`${attack.name} (${attack.tries})`, seconds * 1000);
    await running.stop();
  }
}
console.log(
  hasHeld ? "Every attack was held." : `Not held: the victim's p99 is to stay below ${boundMs} ms, with nothing lost.`,
);
await opened.disposeAsync();
process.exit(hasHeld ? 0 : 1);

function startAttack(name: string) {
  const worker = new Worker(new URL("attacker.ts", import.meta.url), { workerData: { name, use: target.use } });
  const ended = once(worker, "exit");
  worker.on("error", (error) => {
    hasHeld = false;
    console.error(`The attack "${name}" was none: ${error instanceof Error ? error.message : String(error)}`);
  });
  return {
    async stop() {
      worker.postMessage("stop", []);
      await ended;
    },
  };
}

async function measure(name: string, durationMs: number): Promise<void> {
  const during = await useAsVictim(target.use, durationMs).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return { requests: 0, failed: 1, p50Ms: 0, p99Ms: 0, lost: 0 };
  });
  const isHeld = during.failed === 0 && during.lost === 0 && during.p99Ms <= boundMs;
  hasHeld &&= isHeld;
  console.log(toLine(name, during, await target.rssBytes(), isHeld));
}

function toLine(
  name: string,
  { requests, failed, p50Ms, p99Ms, lost }: VictimFigures,
  rssBytes: number | null,
  isHeld = true,
): string {
  const memory = rssBytes === null ? "" : `, gateway ${Math.round(rssBytes / 1_048_576)} MiB`;
  return `${isHeld ? "held    " : "NOT HELD"}  ${name}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${failed} of ${requests} failed, ${lost} events lost${memory}`;
}

interface Target {
  readonly use: GatewayUse;
  /** Null: of a gateway elsewhere. */
  rssBytes(): Promise<number | null>;
}

function givenTarget(url: string): Target {
  const { ATTACKER_API_KEY: attackerKey, VICTIM_API_KEY: victimKey } = process.env;
  if (attackerKey === undefined || victimKey === undefined) {
    console.error(`ATTACKER_API_KEY and VICTIM_API_KEY are required with --url\n${usage}`);
    process.exit(2);
  }
  return { use: { url, attackerKey, victimKey }, rssBytes: async () => null };
}

async function startTarget(): Promise<Target> {
  const servers = await startEnvironment();
  opened.defer(() => servers.close());
  const cwd = await mkdtemp(join(tmpdir(), "scanstream-attacks-"));
  opened.defer(() => rm(cwd, { recursive: true, force: true }));
  const group = await createMemoryGroup();
  if (group === null) console.error("No memory cgroup can be had here: the gateway's memory is shown, and not bounded");
  const gateway = await startGatewayProcess({
    environment: servers.environment,
    cwd,
    ...(group === null ? {} : { onStarted: (pid: number) => group.add(pid) }),
  });
  opened.defer(async () => void (await gateway.stop()));
  const keyOf = async (name: string) => {
    const { id: tenant } = (await servers.admin("tenant.create", { name })) as { readonly id: string };
    const key = await servers.admin("api-key.create", { tenant, name, scopes: "read,publish,admin" });
    return (key as { readonly api_key: string }).api_key;
  };
  const use = { url: gateway.url, attackerKey: await keyOf("Attacker"), victimKey: await keyOf("Victim") };
  return { use, rssBytes: async () => (await gateway.outside()).rssBytes };
}

/** A cgroup of either version that bounds the memory of what is put into it; null where this user may make none. */
async function createMemoryGroup(): Promise<{ add(pid: number): Promise<void> } | null> {
  for (const [root, file] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const folder = join(root, `scanstream-attacks-${process.pid}`);
    try {
      await mkdir(folder);
      await writeFile(join(folder, file), String(memoryBytes));
      opened.defer(() => rmdir(folder).catch(() => undefined));
      return { add: (pid) => writeFile(join(folder, "cgroup.procs"), String(pid)) };
    } catch {
      await rmdir(folder).catch(() => undefined);
    }
  }
  return null;
}
