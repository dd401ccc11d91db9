import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { countStates, type Report } from "../../shared/report.ts";
import { runCommand, startCommand, temporaryFolder, type Outcome } from "../support/command_line.ts";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startFaultyGateway, type FaultyGateway } from "./faulty_gateway.ts";
import { recordFault, seconds } from "./reliability_table.ts";

/** V5: a scan outlives its stream. Its report and exit code are those of a scan without followers, and it ends in time. */

const here = "test/faults/scan.test.ts";
/** What an outage may cost at the end of a scan, for the last words to be tried. */
const extraBoundMs = 15_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let org: PracticeOrg;
let faulty: FaultyGateway;
let idpEnvironment: Record<string, string>;
let calm: { readonly outcome: Outcome; readonly ms: number };

beforeAll(async () => {
  folder = await temporaryFolder();
  faulty = await startFaultyGateway();
  org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 40 });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  idpEnvironment = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
  const startedMs = performance.now();
  const outcome = await runCommand([...scanArguments, "--no-stream"], { cwd: folder.path, env: idpEnvironment });
  calm = { outcome, ms: performance.now() - startedMs };
  expect(calm.outcome.code).toBe(1);
});
afterAll(async () => {
  await org.stop();
  await faulty.close();
  await folder[Symbol.asyncDispose]();
});

const scanArguments = ["scan", "--format", "json", "--concurrency", "1"];

/** Everything of a report that does not depend on when the scan ran and under which id. */
function verdicts(outcome: Outcome): unknown {
  const { schema, summary, checks } = JSON.parse(outcome.stdout) as Report & { readonly schema: string };
  return { schema, summary, checks };
}

interface Broken {
  readonly outcome: Outcome;
  readonly extraMs: number;
}

/** A scan during which `breakIt` is called as soon as its stream is being written. */
async function scanWhile(gatewayUrl: string, apiKey: string, breakIt: () => unknown): Promise<Broken> {
  const env = { ...idpEnvironment, SCANSTREAM_URL: gatewayUrl, SCANSTREAM_API_KEY: apiKey };
  const startedMs = performance.now();
  const scan = startCommand(scanArguments, { cwd: folder.path, env });
  await scan.until("stderr", /Streaming as scan/);
  await breakIt();
  const outcome = await scan.finished;
  return { outcome, extraMs: performance.now() - startedMs - calm.ms };
}

function expectUnharmed({ outcome, extraMs }: Broken): void {
  expect(outcome.code, outcome.stderr).toBe(calm.outcome.code);
  expect(verdicts(outcome)).toEqual(verdicts(calm.outcome));
  expect(extraMs).toBeLessThan(extraBoundMs);
  expect(outcome.stderr).not.toMatch(/\n\s+at /);
}

function record(fault: string, client: string, { extraMs }: Broken): void {
  recordFault(
    {
      fault,
      client,
      soon: `the scan takes ${seconds(Math.max(0, extraMs))} longer`,
      recovers: "what waits is sent when the gateway is back in time",
      lost: "live events; no verdict, report and exit code as without a gateway",
    },
    here,
  );
}

test("a gateway that stops answering in the middle of a scan, without closing anything", async () => {
  const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(faulty.url).port) });
  const { apiKey } = await faulty.createTenant("Globex");
  const broken = await scanWhile(`http://127.0.0.1:${network.port}`, apiKey, () => network.stall());
  await network.close();
  expectUnharmed(broken);
  record("gateway silent in the middle of a scan", "the scanner warns once", broken);
});

test("a gateway whose connections break again and again: the scan is stored whole all the same", async () => {
  const network = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(faulty.url).port) });
  const tenant = await faulty.createTenant("Initech");
  let cuts: NodeJS.Timeout | undefined;
  const broken = await scanWhile(`http://127.0.0.1:${network.port}`, tenant.apiKey, () => {
    cuts = setInterval(() => network.cut(), 300);
  });
  clearInterval(cuts);
  await network.close();
  expectUnharmed(broken);
  const listed = await faulty.request("/api/v1/scans", `Api-Key ${tenant.apiKey}`);
  const { items } = (await listed.json()) as { items: readonly Record<string, unknown>[] };
  const { checks } = JSON.parse(broken.outcome.stdout) as Report;
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ status: "completed", ...countStates(checks) });
  recordFault(
    {
      fault: "connections to the gateway cut every 0.3 s during a scan",
      client: "the scanner says nothing, or warns once",
      soon: `the scan takes ${seconds(Math.max(0, broken.extraMs))} longer`,
      recovers: "each request is sent again; findings are idempotent",
      lost: "live events at most; the stored scan is whole",
    },
    here,
  );
});

test("a broker that is unavailable during a whole scan: the gateway stores what it cannot stream", async () => {
  const tenant = await faulty.createTenant("Umbrella");
  faulty.brokerNetwork.refuse();
  const broken = await scanWhile(faulty.url, tenant.apiKey, () => undefined).finally(() =>
    faulty.brokerNetwork.restore(),
  );
  expectUnharmed(broken);
  const listed = await faulty.request("/api/v1/scans", `Api-Key ${tenant.apiKey}`);
  const { items } = (await listed.json()) as { items: readonly Record<string, unknown>[] };
  expect(items[0]).toMatchObject({ status: "completed" });
  record("broker unavailable during a scan", "the scanner warns once; the scan is stored", broken);
});

test("an identity provider that becomes unavailable in the middle of a scan: no verdict on what was not read", async () => {
  const fleeting = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 40 });
  const { privateKeyFile } = await publishCredentials(fleeting, join(folder.path, "fleeting"));
  const env = {
    IDP_ORG_URL: fleeting.url,
    IDP_CLIENT_ID: fleeting.clientId,
    IDP_PRIVATE_KEY_FILE: privateKeyFile,
  };
  const startedMs = performance.now();
  const scan = startCommand([...scanArguments, "--no-stream"], { cwd: folder.path, env });
  // Logged in, and well within the reading.
  await expect.poll(() => fleeting.requests.length, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(15);
  await fleeting.stop();
  const outcome = await scan.finished;
  const report = JSON.parse(outcome.stdout) as Report;
  const before = (JSON.parse(calm.outcome.stdout) as Report).checks;
  const statuses = new Map(before.map(({ check, status }) => [check, status]));
  expect(report.checks).toHaveLength(before.length);
  let unknown = 0;
  for (const { check, status, reason } of report.checks) {
    if (status === "MANUAL" && statuses.get(check) !== "MANUAL") {
      unknown += 1;
      expect(reason, check).toBe("provider_error");
    } else {
      expect(status, check).toBe(statuses.get(check));
    }
  }
  expect(unknown).toBeGreaterThan(0);
  recordFault(
    {
      fault: "identity provider unavailable in the middle of a scan",
      client: "MANUAL with `provider_error` for each check whose evidence was not complete",
      soon: `the scan ends ${seconds(Math.max(0, performance.now() - startedMs - calm.ms))} later than in calm`,
      recovers: "the next scan",
      lost: "the verdicts that rested on it; none is guessed, no check disappears",
    },
    here,
  );
});
