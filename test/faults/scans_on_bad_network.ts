import { join } from "node:path";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { createKeyPair, publishCredentials } from "../../practice_org/auth/credentials.ts";
import { scanCommand } from "../../scanner/commands/scan_command.ts";
import type { Finding, Report } from "../../shared/report.ts";
import type { ScanEvents } from "../../shared/scan_events.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import type { EdgeTenant } from "../support/edge_backends.ts";
import { temporaryFolder } from "../support/command_line.ts";
import { createRandom } from "../support/random.ts";
import { startTcpProxy } from "../support/tcp_proxy.ts";
import { startFaultyGateway, type FaultyGateway } from "./faulty_gateway.ts";

/**
 * Real scans over networks that are slow, lose answers and break connections, between all parts at once: scanner and
 * provider, scanner and gateway, gateway and PostgreSQL, gateway and Redis, gateway and three followers of each scan.
 */
export interface BadNetworkOptions {
  readonly scans: number;
  /** Scans that run concurrently. */
  readonly lanes: number;
  readonly seed: number;
}

export interface BadNetworkResult {
  /** What was not as promised, one line each. */
  readonly complaints: readonly string[];
  readonly scans: number;
  /** Followers that received `scan.end`, and that learned of it by 204 after their stream had been lost. */
  readonly heardEnd: number;
  readonly told204: number;
  /** Followers that had every finding by events and refetches alone when the end came. */
  readonly complete: number;
  readonly reconnects: number;
  /** Requests of the scanners that had to be sent again are in here. */
  readonly connections: number;
}

const maxRoundTripMs = 300;
const lostAnswers = 0.02;
const cuts = 0.01;
const followersOfEach = 3;

export async function runScansOnBadNetwork({ scans, lanes, seed }: BadNetworkOptions): Promise<BadNetworkResult> {
  const random = createRandom(seed);
  const gateway = await startFaultyGateway({ EVENTSTREAM_RECHECK_SECONDS: "5" });
  const tenant = await gateway.createTenant("Acme");
  const keyPair = await createKeyPair();
  await using folder = await temporaryFolder();
  const result: Counts = {
    complaints: [],
    scans: 0,
    heardEnd: 0,
    told204: 0,
    complete: 0,
    reconnects: 0,
    connections: 0,
  };
  let begun = 0;
  // The gateway stands near its database and broker.
  for (const network of [gateway.databaseNetwork, gateway.brokerNetwork]) {
    network.impair({ delayMs: 1, jitterMs: 5, lostAnswers, cuts: cuts / 10, random });
  }

  async function lane(): Promise<void> {
    // Its port is known once it listens; the address that its clients use has to be known before.
    const orgTarget = { host: "127.0.0.1", port: 0 };
    const gatewayTarget = { host: "127.0.0.1", port: Number(new URL(gateway.url).port) };
    const networks = await Promise.all([gatewayTarget, orgTarget, gatewayTarget].map(startTcpProxy));
    const [gatewayUrl = "", orgUrl = "", followerUrl = ""] = networks.map(({ port }) => `http://127.0.0.1:${port}`);
    const org = await createPracticeOrg({
      profile: { name: "typical" },
      role: "super",
      publicUrl: orgUrl,
      keyPair,
      rateLimit: { perWindow: 6000, windowSeconds: 60, buckets: { token: 6000 } },
    });
    orgTarget.port = org.port;
    const { privateKeyFile } = await publishCredentials(org, join(folder.path, String(org.port)));
    const idp = { IDP_ORG_URL: orgUrl, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
    while (begun < scans) {
      begun += 1;
      const delayMs = (random() * maxRoundTripMs) / 2;
      for (const network of networks) network.impair({ delayMs, jitterMs: delayMs / 2, lostAnswers, cuts, random });
      await oneScan({ gatewayUrl, followerUrl, idp, gateway, tenant, result });
      for (const network of networks) network.restore();
    }
    for (const network of networks) {
      result.connections += network.acceptedCount;
      await network.close();
    }
    await org.stop();
  }

  await Promise.all(Array.from({ length: lanes }, lane));
  gateway.databaseNetwork.restore();
  gateway.brokerNetwork.restore();
  await gateway.close();
  return result;
}

interface ScanContext {
  /** Each on a network of its own. */
  readonly gatewayUrl: string;
  readonly followerUrl: string;
  readonly idp: Readonly<Record<string, string>>;
  readonly gateway: FaultyGateway;
  readonly tenant: EdgeTenant;
  readonly result: Counts;
}

type Counts = { -readonly [Name in keyof Omit<BadNetworkResult, "complaints">]: number } & {
  readonly complaints: string[];
};

async function oneScan({ gatewayUrl, followerUrl, idp, gateway, tenant, result }: ScanContext): Promise<void> {
  let stdout = "";
  let messages = "";
  const registered = Promise.withResolvers<string>();
  const scanned = scanCommand(
    { format: "json" },
    {
      env: { ...idp, SCANSTREAM_URL: gatewayUrl, SCANSTREAM_API_KEY: tenant.apiKey },
      stdout: (text) => void (stdout += text),
      stdoutFailed: new AbortController().signal,
      colorStdout: false,
      terminal: {
        isTTY: false,
        columns: 100,
        color: false,
        write(text) {
          messages += text;
          const [, id] = /Streaming as scan ([0-9a-f-]{36})/.exec(messages) ?? [];
          if (id !== undefined) registered.resolve(id);
        },
      },
      ask: null,
      interrupted: new AbortController().signal,
      toolVersion: "0.0.0",
      now: () => new Date(),
    },
  );
  const scanId = await Promise.race([registered.promise, scanned.then(() => null)]);
  const followers =
    scanId === null ? [] : Array.from({ length: followersOfEach }, () => follow(followerUrl, scanId, tenant.apiKey));
  const code = await scanned;
  result.scans += 1;
  const complain = (what: string) => result.complaints.push(`scan ${scanId}: ${what}\n${messages.slice(-500)}`);
  if (scanId === null) return void complain("was never registered");
  if (code !== 1) return void complain(`ended with ${code}`);
  const report = JSON.parse(stdout) as Report;

  const stored = await readScan(gateway.url, scanId, tenant.apiKey, 20);
  const { pass, fail, manual } = report.summary;
  const expected = { status: "completed", pass, fail, manual, checks_done: report.checks.length };
  for (const [name, value] of Object.entries(expected)) {
    if (stored.scan[name] !== value) complain(`stored ${name} is ${String(stored.scan[name])}, reported ${value}`);
  }
  const reported = report.checks.flatMap((check) => check.findings);
  const difference = compare(reported, stored.findings);
  if (difference !== null) complain(difference);

  for (const follower of followers) {
    const { state, ends, hasEvent, fingerprints, reconnects } = await follower;
    if (state !== "ended") complain(`a follower finished as ${state}`);
    if (ends > 1) complain(`a follower received ${ends} ends`);
    if (hasEvent) result.heardEnd += 1;
    else result.told204 += 1;
    const all = new Set(reported.map(({ fingerprint }) => fingerprint));
    for (const fingerprint of fingerprints)
      if (!all.has(fingerprint)) complain("a follower received a finding that is not there");
    if (fingerprints.size === all.size) result.complete += 1;
    result.reconnects += reconnects;
  }
}

function compare(reported: readonly Finding[], stored: ReadonlyMap<string, string>): string | null {
  const statuses = new Map(reported.map(({ fingerprint, status }) => [fingerprint, status]));
  if (statuses.size !== stored.size) return `${stored.size} findings are stored, ${statuses.size} reported`;
  const different = [...statuses].filter(([fingerprint, status]) => stored.get(fingerprint) !== status);
  return different.length === 0 ? null : `${different.length} stored findings are not as reported`;
}

interface Followed {
  readonly state: string;
  readonly ends: number;
  readonly hasEvent: boolean;
  readonly fingerprints: ReadonlySet<string>;
  readonly reconnects: number;
}

async function follow(url: string, scanId: string, apiKey: string): Promise<Followed> {
  const fingerprints = new Set<string>();
  let ends = 0;
  let opens = 0;
  const end = await subscribe<ScanEvents>(`${url}/api/v1/scans/${scanId}/event-stream`, {
    apiKey,
    signal: AbortSignal.timeout(90_000),
    async refetch() {
      opens += 1;
      const { findings } = await readScan(url, scanId, apiKey, 1);
      for (const fingerprint of findings.keys()) fingerprints.add(fingerprint);
    },
    onEvent(event) {
      if (event.type === "finding.created") fingerprints.add(event.data.fingerprint);
      if (event.type === "scan.end") ends += 1;
    },
  }).finished;
  return { state: end.state, ends, hasEvent: ends > 0, fingerprints, reconnects: Math.max(0, opens - 1) };
}

/** The scan and the status of each stored finding. */
async function readScan(url: string, scanId: string, apiKey: string, attempts: number) {
  const read = async (path: string): Promise<Record<string, unknown>> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const headers = { authorization: `Api-Key ${apiKey}` };
        const response = await fetch(`${url}/api/v1/scans/${scanId}${path}`, { headers });
        if (response.ok) return (await response.json()) as Record<string, unknown>;
        throw new Error(`Cannot read the scan: ${response.status}`);
      } catch (error) {
        if (attempt >= attempts) throw error;
      }
    }
  };
  const findings = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Record<string, unknown> = await read(`/findings?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
    for (const { fingerprint, status } of page["items"] as readonly Finding[]) findings.set(fingerprint, status);
    cursor = page["next_cursor"] as string | null;
  }
  return { scan: await read(""), findings };
}
