import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { type Attack } from "./attacks.ts";
import type { Attacking } from "./attacker.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { useAsVictim, type GatewayUse } from "./victim.ts";

/** What a gateway in a container gets. */
const memoryBytes = 1024 * 1_048_576;
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
  const problems: string[] = [];
  log("| | attack | what it tried | what holds | the victim | the gateway |\n|---|---|---|---|---|---|");
  for (const { name, tries, holds } of chosen) {
    const running = await startAttack(name, use);
    const { requests, failed, reasons, p50Ms, p99Ms, lost } = await useAsVictim(use, seconds * 1000);
    const { rssBytes } = await gateway.outside();
    const reached = await running.stop();
    // A busy machine answers later by itself: how long it took is shown, and not judged.
    const isHeld = failed === 0 && lost === 0 && rssBytes <= memoryBytes && reached > 0;
    if (!isHeld) problems.push(`the attack "${name}" was not held, or never came through`);
    const whys = Object.entries(reasons).map(([reason, count]) => `${count} × ${reason}`);
    const why = whys.length === 0 ? "" : ` (${whys.join("; ")})`;
    const figures = `p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${failed} of ${requests} failed${why}, ${lost} events lost`;
    const memory = `${Math.round(rssBytes / 1_048_576)} MiB`;
    log(
      `| ${isHeld ? "held" : "NOT HELD"} | ${name} | ${tries} (${reached} in all) | ${holds} | ${figures} | ${memory} |`,
    );
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
