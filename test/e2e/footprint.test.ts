import { mkdir, readFile, readdir, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  footprintRow,
  footprints,
  type Destination,
  type Footprint,
  type Listener,
} from "../../tools/release/footprint.ts";
import {
  startCommandGateway,
  startCommandOrg,
  type CommandGateway,
  type CommandOrg,
} from "../support/command_gateway.ts";
import { builtPackage, runCommand, startBinary, temporaryFolder, type Running } from "../support/command_line.ts";
import { startOtlpReceiver } from "../support/otlp_receiver.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { freePort } from "../support/free_port.ts";
import { startRedis } from "../support/redis.ts";
import { createIssuerKey } from "../support/test_gateway.ts";
import { startReceiver } from "../support/webhook_receiver.ts";

/**
 * Runs commands under strace and compares every connection, every listening port and every file with the list that
 * docs/approval.md shows. A library that calls home, or a file that others can read, is found here.
 */
const practicePort = await freePort();

describe.runIf(process.platform === "linux")("what the kernel sees is what tools/release/footprint.ts lists", () => {
  let org: CommandOrg;
  let gateway: CommandGateway;
  let orgFolder: Awaited<ReturnType<typeof temporaryFolder>>;
  let evidence: string;
  beforeAll(async () => {
    orgFolder = await temporaryFolder();
    [org, gateway] = await Promise.all([startCommandOrg(orgFolder.path), startCommandGateway()]);
    evidence = join(orgFolder.path, "evidence.json");
    const options = { cwd: orgFolder.path, env: org.env };
    expect((await runCommand(["collect", "--save-artifacts", evidence], options)).code).toBe(0);
  });
  afterAll(async () => {
    await Promise.all([org[Symbol.asyncDispose](), gateway[Symbol.asyncDispose]()]);
    await orgFolder[Symbol.asyncDispose]();
  });

  const report = ["--format", "json,html,cklb", "--output", "report", "--fail-on", "never"];
  test.each<[kind: keyof typeof footprints, args: readonly string[], until: RegExp | null]>([
    ["scan", ["scan", ...report, "--save-artifacts", "evidence.json"], null],
    ["fix", ["fix", "--output", "plan"], null],
    ["doctor", ["doctor"], null],
    ["setup", ["setup"], null],
    ["follow", ["follow", "--interval", "2"], /First results/],
    ["gateway", ["scans", "list"], null],
    ["practice", ["practice-org", "--port", String(practicePort)], /PRIVATE_KEY/],
  ])("%s", async (kind, args, until) => {
    const env = { ...org.env, ...gateway.env };
    const okta = portOf(org.env["IDP_ORG_URL"]);
    const ports = { okta, gateway: portOf(gateway.env["SCANSTREAM_URL"]), practice: practicePort };
    await expectFootprint(footprints[kind], ports, async (start) => {
      const running = start(args, env);
      if (until === null) await running.finished;
      else {
        await running.until("stdout", until);
        if (kind === "follow") {
          const monitors = () => gateway.get("/api/v1/monitors");
          await expect.poll(monitors).toMatchObject({ items: [{ status: "running" }] });
        }
        await running.stop("SIGINT");
      }
    });
  });

  test("migrate", async () => {
    const database = await createTestDatabase(inject("postgresAdminUrl"), "empty");
    const env = { DATABASE_URL: database.ownerUrl };
    await expectFootprint(footprints.migrate, { database: portOf(database.ownerUrl) }, async (start) => {
      for (const args of [["migrate"], ["admin", "tenant", "list"]]) {
        const { code, stderr } = await start(args, env).finished;
        expect(code, stderr).toBe(0);
      }
    });
    await database.drop();
  });

  test("offline commands open no connection, with every variable set", async () => {
    const env = { ...org.env, ...gateway.env, HTTPS_PROXY: "http://127.0.0.1:9" };
    const from = ["--from-artifacts", evidence];
    await expectFootprint(footprints.offline, {}, async (start) => {
      for (const args of [
        ["keygen", "--output", "scanner.key"],
        ["evaluate", ...from, ...report, "--sign", "scanner.key"],
        ["package", ...from, "--output", "okta.zip", "--sign", "scanner.key"],
        ["verify", "okta.zip", "--key", "scanner.key.pub"],
        ["diff", evidence, evidence],
        ["fix", ...from, "--output", "plan"],
        ["history", "--from-reports", "report", "--format", "json,html", "--output", "report"],
        ["checks"],
      ]) {
        const { code, stderr } = await start(args, env).finished;
        expect(code, `${args.join(" ")}: ${stderr}`).toBe(0);
      }
    });
  });

  test.each([["serve"], ["embedded"]] as const)("%s", async (kind) => {
    const [redis, traces, issuerKey, webhooks] = await Promise.all([
      startRedis(),
      startOtlpReceiver(),
      createIssuerKey(),
      startReceiver(),
    ]);
    await using issuer = await startReceiver({
      answer: (response) => response.end(JSON.stringify({ keys: [issuerKey.publicJwk] })),
    });
    const database = await createTestDatabase(inject("postgresAdminUrl"));
    const [port, metrics] = [await freePort(), await freePort()];
    const env: Readonly<Record<string, string>> = {
      PORT: String(port),
      METRICS_PORT: String(metrics),
      WEBHOOK_ALLOW_PRIVATE: "1",
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      AUTH_JWKS_URL: `${issuer.url}/keys`,
      AUTH_ISSUER: issuer.url,
      AUTH_AUDIENCE: "scanstream",
      ...(kind === "embedded"
        ? {}
        : { DATABASE_URL: database.ownerUrl, REDIS_URL: redis.url, STREAM_TOKEN_SECRET: "s".repeat(32) }),
    };
    const ports = {
      database: portOf(database.ownerUrl),
      broker: redis.port,
      issuer: issuer.port,
      traces: portOf(traces.url),
      webhooks: webhooks.port,
      http: port,
      metrics,
    };
    try {
      await expectFootprint(footprints[kind], ports, async (start, cwd) => {
        const running = start(["serve"], env);
        await running.until("stdout", /listens on/);
        const admin = async (...args: readonly string[]) => {
          const { code, stdout, stderr } = await runCommand(["admin", ...args, "--format", "json"], { cwd, env });
          expect(code, stderr).toBe(0);
          return JSON.parse(stdout) as Readonly<Record<string, string>>;
        };
        const tenant = (await admin("tenant", "create", "--name", "Acme"))["id"] ?? "";
        const key = (
          await admin("api-key", "create", "--tenant", tenant, "--name", "all", "--scopes", "read,publish,admin")
        )["api_key"];
        const call = (path: string, authorization: string, body?: object) =>
          fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
            headers: { authorization, "content-type": "application/json" },
            ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
          });
        const header = Buffer.from('{"alg":"ES256","kid":"test-key"}').toString("base64url");
        expect((await call("/scans", `Bearer ${header}.e30.${"A".repeat(86)}`)).status).toBe(401);
        const made = await call("/webhooks", `Api-Key ${key}`, { url: webhooks.url, events: ["scan.end"] });
        const { id } = (await made.json()) as { readonly id: string };
        expect((await call(`/webhooks/${id}/test`, `Api-Key ${key}`, {})).status).toBe(202);
        await Promise.all([webhooks.waitFor(1), issuer.waitFor(1)]);
        await expect.poll(() => traces.spans.length).toBeGreaterThan(0);
        await running.stop("SIGTERM");
      });
    } finally {
      await Promise.all([redis.stop(), traces.stop(), webhooks[Symbol.asyncDispose](), database.drop()]);
    }
  });
});

test("docs/approval.md shows the list", async () => {
  const page = await readFile(join(import.meta.dirname, "../../docs/approval.md"), "utf8");
  for (const footprint of Object.values(footprints)) expect(page).toContain(footprintRow(footprint));
});

type Start = (args: readonly string[], env: Readonly<Record<string, string>>) => Running;

/** Runs commands in an empty folder; each connection, port and file must be in the list, and each of the list must be seen. */
async function expectFootprint(
  footprint: Footprint,
  ports: Readonly<Partial<Record<Destination | Listener, number>>>,
  work: (start: Start, cwd: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  await using traces = await temporaryFolder();
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  let count = 0;
  const calls = "trace=connect,sendto,sendmsg,sendmmsg,bind,open,openat,creat,mkdir,mkdirat";
  await work((args, env) => {
    count += 1;
    const strace = ["-D", "-f", "-qq", "-y", "-s", "256", "-e", calls, "-o", join(traces.path, String(count))];
    const program = [process.execPath, join(builtPackage, "scanstream.js"), ...args];
    return startBinary("strace", [...strace, ...program], {
      cwd,
      env: { ...env, TMPDIR: cwd, NODE_DISABLE_COMPILE_CACHE: "1" },
    });
  }, cwd);
  const files = await Promise.all(
    (await readdir(traces.path)).map((file) => readFile(join(traces.path, file), "utf8")),
  );
  const lines = files.join("").split("\n");
  const nameOf = (line: string) => {
    const [, host = "", socket] = /sin6?_(?:port=htons\(\d+\)).*?"([\d.:a-f]+)"|sun_path="([^"]+)"/.exec(line) ?? [];
    if (socket !== undefined) return /^\.scanstream\/(?:follow\/)?admin\.sock/.test(socket) ? "socket" : socket;
    const port = Number(/htons\((\d+)\)/.exec(line)?.[1]);
    const known = Object.entries(ports).find(([, each]) => each === port)?.[0];
    return host === "127.0.0.1" && known !== undefined ? known : `${host}:${port}`;
  };
  const seen = (call: RegExp) => [...new Set(lines.filter((line) => call.test(line)).map(nameOf))].toSorted();
  expect(seen(/ (?:connect|send\w+)\(.*(?:sin6?_port|sun_path)/)).toEqual(footprint.connects.toSorted());
  expect(seen(/ bind\(/)).toEqual(footprint.listens.toSorted());

  const made = lines.flatMap((line) => {
    const [, path] =
      / (?:openat\([^"]*|open\(|creat\(|mkdirat\([^"]*|mkdir\()"([^"]+)".*(?:O_CREAT|, 0\d+\))/.exec(line) ?? [];
    return path === undefined ? [] : [resolve(cwd, path)];
  });
  expect(made.filter((path) => path !== "/dev/null" && relative(cwd, path).startsWith(".."))).toEqual([]);
  const entries = await readdir(cwd, { recursive: true });
  const modes = await Promise.all(
    entries.map(async (path) => [path, ((await stat(join(cwd, path))).mode & 0o777).toString(8)] as const),
  );
  const unlisted = modes.filter(
    ([path, mode]) =>
      !footprint.writes.some((written) => written.path.test(path) && (written.mode === mode || written.mode === "any")),
  );
  expect(unlisted).toEqual([]);
  const unseen = footprint.writes.filter((written) => !entries.some((path) => written.path.test(path)));
  expect(unseen.map(({ name }) => name)).toEqual([]);
}

function portOf(url = ""): number {
  return Number(new URL(url).port);
}
