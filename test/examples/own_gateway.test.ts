import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { createGatewayPublisher, makeChannelName } from "../../shared/events.ts";
import { unoptimized } from "../support/built_package.ts";
import { launchChromium } from "../support/chromium.ts";
import { cleanUp, ownFolder } from "../support/clean_up.ts";
import { startEdgeBackends } from "../support/edge_backends.ts";
import { placeEmbeddedDatabase } from "../support/pglite.ts";
import { denoProgram } from "../support/runtime_programs.ts";
import { startServer, startWranglerDev } from "../support/server_process.ts";
import { copyInstalled } from "../support/tarball.ts";
import { readStream } from "../support/test_gateway.ts";

/** `examples/own_gateway/`, with the package as it is published. */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

const peers = Object.keys(packageJson.peerDependencies);
const folder = await ownFolder();
const own = join(folder, "own");
await copyInstalled(own);
await link(own, [...peers, "@types/node"]);
await cp(join(root, "examples/own_gateway"), own, { recursive: true });

async function link(target: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(dirname(join(target, "node_modules", name)), { recursive: true });
    await symlink(join(root, "node_modules", name), join(target, "node_modules", name));
  }
}

test("it compiles against the published types, and its own tests pass", async () => {
  const flags =
    "--noEmit --target ES2024 --lib ES2024 --module NodeNext --types node --allowImportingTsExtensions --skipLibCheck " +
    "--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess";
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const files = ["main.ts", "worker.ts", "features.test.ts", "contract.test.ts"];
  await run(process.execPath, [compiler, ...flags.split(" "), ...files], { cwd: own });
  // One process starts Postgres for half of the CPU time of two.
  await run(process.execPath, [...unoptimized, "--test", "--test-isolation=none"], { cwd: own });
});

test("a missing peer dependency is one error that names it", async () => {
  const cwd = join(folder, "without");
  await cp(join(own, "node_modules/scanstream"), join(cwd, "node_modules/scanstream"), { recursive: true });
  const errorsOf = async (...names: readonly string[]) => {
    const imports = names.map(
      (name) => `await import("scanstream/${name}").catch((error) => console.log(error.message))`,
    );
    const { stdout } = await run(process.execPath, ["-e", imports.join("\n")], { cwd });
    return [...stdout.matchAll(/^Cannot find package '([^']+)'/gm)].map(([, name]) => name);
  };
  expect(await errorsOf("gateway")).toEqual([expect.stringMatching(/^(?:hono|drizzle-orm)$/)]);
  await link(cwd, ["hono", "drizzle-orm"]);
  const adapters = ["postgres", "redis", "upstash", "neon"].map((name) => `gateway/${name}`);
  const needed = ["pg", "ioredis", "@upstash/redis", "@neondatabase/serverless"];
  expect(await errorsOf(...adapters)).toEqual(needed);
});

const browser = await launchChromium();
cleanUp(() => browser.close());
const processes = {
  Node: [process.execPath, ...unoptimized, "main.ts"],
  Deno: [denoProgram(), "run", "-A", "--v8-flags=--liftoff-only", "--no-lock", "--node-modules-dir=manual", "main.ts"],
} as const;

test.each(["Node", "Deno"] as const)(
  "on %s a page follows a job to its end, with nothing else installed",
  async (runtime) => {
    const cwd = join(folder, runtime);
    await cp(own, cwd, { recursive: true });
    if (runtime === "Node") await placeEmbeddedDatabase(cwd);
    const server = await startServer(processes[runtime], { cwd, env: { NO_COLOR: "1", PORT: "0" } });
    const [, apiKey = ""] = await server.until("stdout", /shown this once: (\S+)/);
    const post = (path: string) =>
      fetch(`${server.url}/api/v1${path}`, { method: "POST", headers: { authorization: `Api-Key ${apiKey}` } });
    const job = (await (await post("/jobs")).json()) as { readonly id: string; readonly tenantId: string };
    const page = await browser.newPage();
    page.on("dialog", (dialog) => void dialog.accept(apiKey));
    await page.goto(`${server.url}/api/v1/page#${job.id}`);
    const { sendEvent, close } = createGatewayPublisher({ url: server.url, apiKey });
    const value = () => page.locator("progress").getAttribute("value");
    await expect
      .poll(async () => {
        // Nothing is replayed: sent until the page is there.
        const progress = { job_id: job.id, done: 3, total: 9 };
        await sendEvent(makeChannelName("job", job.tenantId, job.id), "job.progress", progress);
        return value();
      })
      .toBe("3");
    expect((await post("/jobs/none/end")).status).toBe(404);
    expect((await post(`/jobs/${job.id}/end`)).status).toBe(200);
    await page.getByText("succeeded").waitFor();
    await close();
    expect((await server.stop()).code).toBe(0);
  },
);

test("on workerd it follows a job to its end, once its tables are migrated", async () => {
  const backends = await startEdgeBackends();
  const migrating = `
    const { migrate } = await import("scanstream/gateway");
    const { postgres } = await import("scanstream/gateway/postgres");
    const { features } = await import("./features.ts");
    await migrate({ database: postgres({ url: process.env.DATABASE_URL }), features });`;
  await run(process.execPath, ["-e", migrating], { cwd: own, env: { DATABASE_URL: backends.database.ownerUrl } });
  const source = await readFile(join(own, "worker.ts"), "utf8");
  const local = source.replace("url: env.DATABASE_URL", "url: env.DATABASE_URL, endpoint: env.DATABASE_HTTP_URL");
  await writeFile(join(own, "worker.ts"), local);
  const config = join(own, "wrangler.toml");
  const worker = await startWranglerDev({ environment: backends.workerEnvironment, config });
  const { apiKey } = await backends.createTenant("Acme");
  const headers = { authorization: `Api-Key ${apiKey}` };
  const post = (path: string) => fetch(`${worker.url}/api/v1${path}`, { method: "POST", headers });
  const job = (await (await post("/jobs")).json()) as { readonly id: string };
  const stream = await fetch(`${worker.url}/api/v1/jobs/${job.id}/event-stream`, { headers });
  expect(stream.status).toBe(200);
  expect((await post(`/jobs/${job.id}/end`)).status).toBe(200);
  expect(await readStream(stream, ": close ended")).toContain(`event: job.end\ndata: {"job_id":"${job.id}"`);
  await worker.stop();
  await backends.close();
});
