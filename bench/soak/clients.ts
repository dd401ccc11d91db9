import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { openLoadStream, type LoadStream } from "./load_stream.ts";
import type { Tally } from "./tally.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { pause } from "../../shared/abortable.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import { startProgram, temporaryFolder } from "../../test/support/command_line.ts";
import type { SoakEnvironment } from "./environment.ts";
import type { ProducedScan, SoakTenant } from "./producer.ts";

/** What the clients of a soak share. */
export interface SoakRun {
  readonly environment: SoakEnvironment;
  readonly url: string;
  readonly tally: Tally;
  /** Aborts when clients are to leave. */
  readonly over: AbortSignal;
  readonly counts: SoakCounts;
  readonly report: (problem: string) => void;
}

export interface SoakCounts {
  scans: number;
  slowReaders: number;
  revoked: number;
  expired: number;
  crossTenantRequests: number;
}

type Credentials = Parameters<typeof openLoadStream>[0]["credentials"];

/** An event that an open stream does not get within this time is lost. */
const deliveryMs = 60_000;

/** Opens a stream, reads for up to three seconds, waits for what was published by then, and leaves; again and again. */
export async function ordinaryClient(run: SoakRun, scans: readonly ProducedScan[], index: number): Promise<void> {
  while (!run.over.aborted) {
    const scan = pick(scans);
    const credentials: Credentials =
      index % 2 === 0
        ? { apiKey: scan.tenant.apiKey }
        : { getAccessToken: () => sign(run, scan.tenant, { sub: "ann", seconds: 600 }) };
    const stream = openLoadStream({ url: streamUrl(run, scan), credentials, tally: run.tally, published: scan });
    await Promise.race([stream.answered, pause(5000, [run.over])]);
    await pause(50 + Math.random() * 3000, [run.over]);
    await untilComplete(stream);
    await stream.close();
  }
}

async function untilComplete(stream: LoadStream): Promise<void> {
  const untilMs = performance.now() + deliveryMs;
  while (stream.isOpen && !stream.isComplete && performance.now() < untilMs) await pause(10, []);
}

/** Reads nothing of much traffic for five seconds: the gateway closes the stream as slow and keeps its memory bounded. */
export async function slowReader(run: SoakRun, scan: ProducedScan): Promise<void> {
  while (!run.over.aborted) {
    const request = get(streamUrl(run, scan), {
      agent: false,
      headers: { authorization: `Api-Key ${scan.tenant.apiKey}` },
    });
    const closed = new Promise<void>((resolve) => void request.once("close", resolve).on("error", () => resolve()));
    const response = await Promise.race([
      new Promise<IncomingMessage>((resolve) => void request.once("response", resolve)),
      closed.then(() => null),
    ]);
    if (response?.statusCode === 200) {
      let tail = "";
      const ended = new Promise<boolean>(
        (resolve) => void response.on("error", () => undefined).once("close", () => resolve(true)),
      );
      await pause(5000, [run.over]);
      response.setEncoding("utf8").on("data", (text: string) => (tail = (tail + text).slice(-100)));
      const isEnded = await Promise.race([ended, pause(2000, []).then(() => false)]);
      // A stream that is closed as slow has its last bytes, or a reset in their place.
      if (isEnded && !/: close (?:lost|drain)/.test(tail)) run.counts.slowReaders += 1;
    }
    request.destroy();
    await closed;
    await pause(300, [run.over]);
  }
}

/** Revokes a key, removes a member, or lets a token expire, each while its stream is open. */
export async function endedAuthorities(run: SoakRun, scan: ProducedScan): Promise<void> {
  const { environment } = run;
  const { tenant } = scan;
  for (let turn = 0; !run.over.aborted; turn += 1) {
    const key = (await environment.admin("api-key.create", { tenant: tenant.id, name: "soak" })) as {
      readonly id: string;
      readonly api_key: string;
    };
    const revokeKey = () => environment.admin("api-key.revoke", { id: key.id });
    await watchEnd(run, scan, { credentials: { apiKey: key.api_key }, end: revokeKey, reason: "revoked" });

    const member = { tenant: tenant.id, sub: `guest-${turn}` };
    await environment.admin("user.create", member);
    const memberToken = await sign(run, tenant, { sub: member.sub, seconds: 600 });
    await watchEnd(run, scan, {
      credentials: { getAccessToken: () => Promise.resolve(memberToken) },
      end: () => environment.admin("user.remove", member),
      reason: "revoked",
    });

    const shortToken = await sign(run, tenant, { sub: "ann", seconds: 3 });
    await watchEnd(run, scan, {
      credentials: { getAccessToken: () => Promise.resolve(shortToken) },
      end: () => pause(3000, []),
      reason: "expired",
    });
    await pause(500, [run.over]);
  }
}

/** Promise S4: a stream closes within 30 s of the end of its authority, and no other opens. */
const promisedMs = 30_000;

interface EndingAuthority {
  readonly credentials: Credentials;
  readonly end: () => Promise<unknown>;
  readonly reason: "revoked" | "expired";
}

async function watchEnd(
  run: SoakRun,
  scan: ProducedScan,
  { credentials, end, reason }: EndingAuthority,
): Promise<void> {
  const opened = Promise.withResolvers<void>();
  let endedAtMs = Infinity;
  let lateOpenings = 0;
  const closeReasons: string[] = [];
  const subscription = subscribe(streamUrl(run, scan), {
    ...credentials,
    backoffMs: [100, 1000],
    onOpen() {
      opened.resolve();
      // The gateway caches an authority for as long as it has to notice its end.
      if (performance.now() > endedAtMs + promisedMs) lateOpenings += 1;
    },
    onEvent: () => undefined,
    onStateChange(_state, { error }) {
      if (error?.code === "closed" && error.detail !== null) closeReasons.push(error.detail);
    },
  });
  await Promise.race([opened.promise, subscription.finished, pause(5000, [run.over])]);
  await end();
  endedAtMs = performance.now();
  while (subscription.state === "live" && performance.now() < endedAtMs + promisedMs) await pause(20, []);
  if (subscription.state === "live")
    run.report(`a stream was still open ${promisedMs / 1000} s after its authority was ${reason}`);
  if (closeReasons.includes(reason)) run.counts[reason] += 1;
  const outcome = await Promise.race([subscription.finished, pause(promisedMs, []).then(() => null)]);
  subscription.close();
  const status = outcome?.state === "failed" ? outcome.error.status : null;
  if (status !== 401 && status !== 403)
    run.report(`after its authority was ${reason} a client got ${status}, not 401 or 403`);
  if (lateOpenings > 0) run.report(`${lateOpenings} streams were opened by an authority that was ${reason}`);
}

/** Asks for the stream of another tenant. */
export async function crossTenantClient(run: SoakRun, own: SoakTenant, other: ProducedScan): Promise<void> {
  while (!run.over.aborted) {
    const headers = { authorization: `Api-Key ${own.apiKey}` };
    const status = await fetch(streamUrl(run, other), { headers }).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      () => null,
    );
    run.counts.crossTenantRequests += 1;
    if (![404, 503, null].includes(status)) run.report(`the stream of another tenant was answered with ${status}`);
    await pause(200, [run.over]);
  }
}

/** Runs real scans through the gateway, one after another: each ends as it does without faults. */
export async function scanRepeatedly(run: SoakRun, { apiKey }: SoakTenant): Promise<void> {
  await using folder = await temporaryFolder();
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 20 });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  const env = {
    IDP_ORG_URL: org.url,
    IDP_CLIENT_ID: org.clientId,
    IDP_PRIVATE_KEY_FILE: privateKeyFile,
    SCANSTREAM_URL: run.url,
    SCANSTREAM_API_KEY: apiKey,
  };
  const args = ["scan", "--format", "json"];
  while (!run.over.aborted) {
    const { code, stdout, stderr } = await startProgram("scanstream.ts", args, { cwd: folder.path, env }).finished;
    run.counts.scans += 1;
    if (code !== 1) run.report(`a scan ended with ${code}, expected 1: ${stderr.slice(-300)}`);
    else if (!/"status": ?"completed"/.test(stdout)) run.report("a scan was not completed");
    await pause(1000, [run.over]);
  }
  await org.stop();
}

function streamUrl({ url }: SoakRun, { scanId }: ProducedScan): URL {
  return new URL(`/api/v1/scans/${scanId}/event-stream`, url);
}

function sign(
  { environment }: SoakRun,
  tenant: SoakTenant,
  { sub, seconds }: { readonly sub: string; readonly seconds: number },
): Promise<string> {
  const expiresAtSeconds = Math.floor(Date.now() / 1000) + seconds;
  return environment.sign({ tenantId: tenant.id, sub, expiresAtSeconds });
}

function pick<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from");
  return item;
}
