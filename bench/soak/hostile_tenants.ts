import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { attacks, timesReached } from "./attacks.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { useAsVictim } from "./victim.ts";

/** What a gateway in a container gets. */
const memoryBytes = 1024 * 1_048_576;

/** One tenant attacks a gateway, one attack after the other, and another tenant uses it. Resolves with what was not held. */
export async function runAttacks(seconds: number, log: (line: string) => void): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder()).path;
  const servers = await startEnvironment();
  opened.defer(() => servers.close());
  const gateway = await startGatewayProcess({ environment: servers.directEnvironment, cwd: folder });
  opened.defer(async () => void (await gateway.stop()));
  const keyOf = async (name: string) => (await servers.createTenant(name)).apiKey;
  const use = { url: gateway.url, victimKey: await keyOf("Victim"), attackerKey: await keyOf("Attacker") };
  const problems: string[] = [];
  log("| | attack | what it tried | the victim | the gateway |\n|---|---|---|---|---|");
  for (const { name, tries, run } of attacks) {
    const stopping = new AbortController();
    const reachedBefore = timesReached();
    const measure = async () => ({ ...(await useAsVictim(use, seconds * 1000)), ...(await gateway.outside()) });
    const [{ requests, failed, lost, rssBytes }] = await Promise.all([
      measure().finally(() => stopping.abort()),
      run(use, stopping.signal),
    ]);
    const reached = timesReached() - reachedBefore;
    const failures = Object.entries(failed).map(([reason, count]) => `, ${count} × ${reason}`);
    const isHeld = failures.length === 0 && lost === 0 && rssBytes <= memoryBytes && reached > 0;
    if (!isHeld) problems.push(`the attack "${name}" was not held, or never came through`);
    const figures = `${requests} requests${failures.join("")}, ${lost} events lost`;
    const memory = `${Math.round(rssBytes / 1_048_576)} MiB`;
    log(`| ${isHeld ? "held" : "NOT HELD"} | ${name} | ${tries} (${reached} in all) | ${figures} | ${memory} |`);
  }
  return problems;
}
