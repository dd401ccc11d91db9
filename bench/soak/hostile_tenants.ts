import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { type Attack } from "./attacks.ts";
import type { Attacking } from "./attacker.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { useAsVictim, type GatewayUse, type VictimFigures } from "./victim.ts";

/** What a gateway in a container gets. */
const memoryBytes = 1024 * 1_048_576;
/** A busy machine answers later by itself. */
const leastBoundMs = 100;

interface Measured {
  readonly victim: VictimFigures;
  readonly rssBytes: number;
}

/** One tenant attacks a gateway, one attack after the other, and another tenant uses it. Resolves with what was not held. */
export async function runAttacks(
  chosen: readonly Attack[],
  { seconds, log }: { readonly seconds: number; readonly log: (line: string) => void },
): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder()).path;
  const servers = await startEnvironment();
  opened.defer(() => servers.close());
  const gateway = await startGatewayProcess({ environment: servers.directEnvironment, cwd: folder });
  opened.defer(async () => void (await gateway.stop()));
  const keyOf = async (name: string) => {
    const { id: tenant } = (await servers.admin("tenant.create", { name })) as { readonly id: string };
    const key = await servers.admin("api-key.create", { tenant, name, scopes: "read,publish,admin" });
    return (key as { readonly api_key: string }).api_key;
  };
  const use = { url: gateway.url, victimKey: await keyOf("Victim"), attackerKey: await keyOf("Attacker") };
  const measure = async (): Promise<Measured> => ({
    victim: await useAsVictim(use, seconds * 1000),
    rssBytes: (await gateway.outside()).rssBytes,
  });
  const problems: string[] = [];
  log("| | attack | what it tried | what holds | the victim | the gateway |\n|---|---|---|---|---|---|");
  let before = await measure();
  for (const attack of chosen) {
    const running = await startAttack(attack.name, use);
    const during = await measure();
    const reached = await running.stop();
    if (reached < 3) problems.push(`"${attack.name}" came through ${reached} times only`);
    // What others do on this machine slows the victim, too: it is measured alone on both sides of each attack.
    const after = await measure();
    const { isHeld, line } = judge({ ...attack, tries: `${attack.tries} (${reached} in all)` }, during, [
      before,
      after,
    ]);
    log(line);
    if (!isHeld) problems.push(`the attack "${attack.name}" was not held`);
    before = after;
  }
  return problems;
}

async function startAttack(name: string, use: GatewayUse) {
  const child = fork(join(import.meta.dirname, "attacker.ts"));
  const ended = once(child, "exit");
  let reached = 0;
  await once(child, "message");
  child.on("message", (said: { readonly reached: number }) => {
    ({ reached } = said);
    child.disconnect();
  });
  child.send({ name, use } satisfies Attacking);
  return {
    /** Resolves with how often it came through to the gateway: an attack that never did has shown nothing. */
    async stop(): Promise<number> {
      child.send("stop");
      await ended;
      return reached;
    },
  };
}

/** The victim's p99 may be twice what it is alone, nothing may fail or be lost, and the memory is bounded. */
function judge({ name, tries, holds }: Omit<Attack, "run">, during: Measured, alone: readonly Measured[]) {
  const { requests, failed, reasons, p50Ms, p99Ms, lost } = during.victim;
  const aloneMs = Math.max(...alone.map(({ victim }) => victim.p99Ms));
  const boundMs = Math.max(2 * aloneMs, leastBoundMs);
  const isHeld = failed === 0 && lost === 0 && p99Ms <= boundMs && during.rssBytes <= memoryBytes;
  const whys = Object.entries(reasons).map(([reason, count]) => `${count} × ${reason}`);
  const why = whys.length === 0 ? "" : ` (${whys.join("; ")})`;
  const figures = `p50 ${p50Ms} ms, p99 ${p99Ms} ms (alone ${aloneMs}), ${failed} of ${requests} failed${why}, ${lost} events lost`;
  const memory = `${Math.round(during.rssBytes / 1_048_576)} MiB`;
  return {
    isHeld,
    line: `| ${isHeld ? "held" : "NOT HELD"} | ${name} | ${tries} | ${holds} | ${figures} | ${memory} |`,
  };
}
