import { join } from "node:path";
import type { Browser } from "playwright-core";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countStates, type CheckResult } from "../../shared/report.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { launchChromium } from "../support/chromium.ts";
import { runCommand, startCommand, temporaryFolder, type Running } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let gateway: Running;
let org: PracticeOrg;
let browser: Browser;
let url: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  gateway = startCommand(["serve"], { cwd: folder.path, env: { PORT: "0" } });
  [org, browser] = await Promise.all([
    createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 60 }),
    launchChromium(),
  ]);
  url = (await gateway.until("stdout", /http:\/\/127\.0\.0\.1:\d+/))[0];
});

afterAll(async () => {
  await browser.close();
  await org.stop();
  const { code } = await gateway.stop();
  await folder[Symbol.asyncDispose]();
  expect(code).toBe(0);
});

/** An `admin` command on the embedded database that the running gateway holds. */
async function admin(...args: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await runCommand(["admin", ...args, "--format", "json"], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, string>;
}

test("an API key, a JWT and an EventSource in a browser follow the same scan to its end", async () => {
  const tenant = await admin("tenant", "create", "--name", "Acme");
  const tenantId = tenant["id"] ?? "";
  await admin("user", "create", "--tenant", tenantId, "--sub", "ann");
  const { api_key: apiKey = "" } = await admin("api-key", "create", "--tenant", tenantId, "--name", "ci");
  const { access_token: jwt = "" } = await admin("token", "create", "--tenant", tenantId, "--sub", "ann");

  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  const scan = startCommand(["scan", "--format", "json", "--concurrency", "1", "--fail-on", "never"], {
    cwd: folder.path,
    env: {
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY_FILE: privateKeyFile,
      SCANSTREAM_URL: url,
      SCANSTREAM_API_KEY: apiKey,
    },
  });
  const scanId = (await scan.until("stderr", /Streaming as scan ([0-9a-f-]{36})/))[1] ?? "";
  const streamUrl = `${url}/api/v1/scans/${scanId}/event-stream`;

  const followers = [
    followWithFetch(streamUrl, `Api-Key ${apiKey}`),
    followWithFetch(streamUrl, `Bearer ${jwt}`),
    followInBrowser(streamUrl, await streamToken(jwt, scanId)),
  ];
  const watcher = runCommand(["watch", scanId, "--format", "json"], {
    cwd: folder.path,
    env: { SCANSTREAM_URL: url, SCANSTREAM_API_KEY: apiKey },
  });
  const outcome = await scan.finished;
  const report = JSON.parse(outcome.stdout) as {
    scan: { id: string; tenant_id: string };
    checks: readonly CheckResult[];
  };
  expect(report.scan).toMatchObject({ id: scanId, tenant_id: tenantId });

  const expectedEnd = { scan_id: scanId, status: "completed", ...countStates(report.checks) };
  for (const events of await Promise.all(followers)) {
    expect(events.at(-1)).toEqual({ type: "scan.end", data: expectedEnd });
    expect(events.filter(({ type }) => type === "scan.progress").length).toBeGreaterThan(1);
    expect(events.filter(({ type }) => type === "finding.created").length).toBeGreaterThan(5);
  }
  const watched = await watcher;
  expect(watched.code).toBe(0);
  expect(JSON.parse(watched.stdout.trim().split("\n").at(-1) ?? "")).toEqual({ type: "scan.end", ...expectedEnd });

  const after = await fetch(streamUrl, { headers: { authorization: `Api-Key ${apiKey}` } });
  expect(after.status).toBe(204);
  const late = await runCommand(["watch", scanId, "--format", "json"], {
    cwd: folder.path,
    env: { SCANSTREAM_URL: url, SCANSTREAM_API_KEY: apiKey },
  });
  expect(JSON.parse(late.stdout)).toEqual({ type: "scan.end", ...expectedEnd });
});

interface Event {
  readonly type: string;
  readonly data: unknown;
}

async function followWithFetch(streamUrl: string, authorization: string): Promise<readonly Event[]> {
  const response = await fetch(streamUrl, { headers: { authorization } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events: Event[] = [];
  const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data, id } of messages ?? []) {
    expect(id).toBeUndefined();
    events.push({ type: event ?? "message", data: JSON.parse(data) });
  }
  return events;
}

async function streamToken(jwt: string, scanId: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/stream-tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${jwt}`, "content-type": "application/json" },
    body: JSON.stringify({ scan_id: scanId }),
  });
  const { access_token: accessToken, expires_in: expiresIn } = (await response.json()) as Record<string, unknown>;
  expect(expiresIn).toBe(60);
  return String(accessToken);
}

/** The browser's own EventSource, on a page of the gateway. */
async function followInBrowser(streamUrl: string, token: string): Promise<readonly Event[]> {
  const page = await browser.newPage();
  await page.goto(`${url}/healthz`);
  return page.evaluate(
    ([address, types]) =>
      new Promise<Event[]>((resolve) => {
        const events: Event[] = [];
        const source = new EventSource(address);
        for (const type of types) {
          source.addEventListener(type, ({ data }) => {
            events.push({ type, data: JSON.parse(data as string) });
            if (type !== "scan.end") return;
            source.close();
            resolve(events);
          });
        }
      }),
    [`${streamUrl}?access_token=${token}`, ["scan.start", "scan.progress", "finding.created", "scan.end"]] as const,
  );
}
