import { join } from "node:path";
import { createPracticeOrg } from "../practice_org/create_practice_org.ts";
import { publishCredentials } from "../practice_org/auth/credentials.ts";
import { runCommand, temporaryFolder } from "../test/support/command_line.ts";
import { ask, complain, pause, type SoakScan, type Work } from "./work.ts";

/** Real scans, one after another, streamed through the gateway; whatever happens to that, each ends as in calm. */
export async function runScans(work: Work, apiKey: string): Promise<void> {
  await using folder = await temporaryFolder();
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 20 });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  while (work.isOn) {
    const env = {
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY_FILE: privateKeyFile,
      SCANSTREAM_URL: work.url,
      SCANSTREAM_API_KEY: apiKey,
    };
    const { code, stdout, stderr } = await runCommand(["scan", "--format", "json"], { cwd: folder.path, env });
    work.counts.scans += 1;
    if (code !== 1) complain(work, `a scan ended with ${code}: ${stderr.slice(-300)}`);
    else if (!/"status": ?"completed"/.test(stdout)) complain(work, "a scan was not completed");
    await pause(1000);
  }
  await org.stop();
}

/** Well within the time after which a scan without a sign of its producer is ended. */
const signOfLifeMs = 60_000;

/** The heartbeat of a producer, without which the scans whose events are counted would be ended as expired. */
export async function keepScansAlive(work: Work): Promise<void> {
  const scans = [...work.tenants, work.crowded].flatMap((tenant) => tenant.scans);
  let dueMs = 0;
  while (work.isOn) {
    await pause(200);
    if (Date.now() < dueMs) continue;
    const answers = await Promise.all([...scans, work.torrent].map((scan) => touch(work, scan)));
    if (!answers.includes(false)) dueMs = Date.now() + signOfLifeMs;
  }
}

async function touch(work: Work, { id, tenant }: SoakScan): Promise<boolean> {
  const { status } = await ask(work, `/api/v1/scans/${id}`, `Api-Key ${tenant.apiKey}`, { status: "running" }, "PATCH");
  if (![200, 503, 0].includes(status)) complain(work, `a producer's heartbeat was answered with ${status}`);
  return status === 200;
}
