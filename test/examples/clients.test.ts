import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { denoProgram } from "../support/runtime_programs.ts";
import { launchChromium } from "../support/chromium.ts";
import { listen } from "../support/listen.ts";
import { aChange, fail, pass } from "../support/change_builders.ts";
import { cleanUp, ownFolder } from "../support/clean_up.ts";
import { buildFinding, createProducer } from "../support/producers.ts";
import { startWranglerDev, workerConfig } from "../support/server_process.ts";
import { copyInstalled } from "../support/tarball.ts";
import { openTestGateway } from "../support/test_gateway.ts";

/** `examples/clients/`, each over a real gateway and with the package as it is published. */

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

const folder = join(await ownFolder(), "clients");
const path = (name: string) => join(folder, name);
const [gateway, browser] = await Promise.all([openTestGateway(), launchChromium()]);
cleanUp(() => browser.close());
await copyInstalled(folder);
await cp(join(root, "examples/clients"), folder, { recursive: true });
await writeFile(path("package.json"), JSON.stringify({ type: "module" }));
await writeFile(path("deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
const tenant = await gateway.createTenant("Acme");
const producer = createProducer(gateway.url, tenant.apiKey);
const environment = {
  PATH: process.env["PATH"] ?? "",
  SCANSTREAM_URL: gateway.url,
  SCANSTREAM_API_KEY: tenant.apiKey,
};

const register = () => producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
const counts = { pass: 0, fail: 1, manual: 0 };

test("Node prints the findings of a scan until it ends", async () => {
  const scan = await register();
  const isOpen = await untilOpen();
  const client = spawn(process.execPath, [path("node.ts"), scan.id], { env: environment });
  let output = "";
  client.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const exited = once(client, "exit");
  await isOpen();
  await scan.check("a_check", [buildFinding({ check: "a_check", resource_name: "A policy" })], { done: 1, total: 3 });
  await scan.end("completed", counts);
  expect(await exited).toEqual([0, null]);
  expect(output).toBe("FAIL a_check A policy\ncompleted\n");
  const refused = run(process.execPath, [path("node.ts"), crypto.randomUUID()], { env: environment });
  await expect(refused).rejects.toThrow(/the server answered 404/);
});

test("Deno checks, and follows several scans on one connection until the last has ended", async () => {
  const isOpen = await untilOpen();
  const scans = [await register(), await register()];
  const args = ["run", "--check", "--no-lock", "--allow-net", "--allow-env", path("deno.ts")];
  const env = { ...environment, NO_COLOR: "1", HOME: process.env["HOME"] ?? folder };
  const client = run(denoProgram(), [...args, ...scans.map(({ id }) => id)], { cwd: path("."), env });
  await isOpen();
  for (const scan of scans) await scan.end("completed", counts);
  const { stdout } = await client;
  const snapshot = "https://acme.okta.com 0 of 3\n";
  expect(stdout).toBe(`${snapshot}${snapshot}${scans.map(({ id }) => `${id} completed\n`).join("")}`);
});

test("a Worker answers when the scan has ended", async () => {
  const scan = await register();
  const isOpen = await untilOpen();
  const bindings = { SCANSTREAM_URL: gateway.url, SCANSTREAM_API_KEY: tenant.apiKey };
  const worker = await startWranglerDev({ environment: bindings, config: workerConfig(path("worker.ts")) });
  const ask = (id: string) => fetch(`${worker.url}/?scan=${id}`);
  const answer = ask(scan.id);
  await isOpen();
  await scan.end("completed", counts);
  expect(await (await answer).json()).toEqual({ scan_id: scan.id, status: "completed", not_applicable: 0, ...counts });
  const refused = await ask(crypto.randomUUID());
  expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining("the server answered 404")]);
  await worker.stop();
});

test("a plain page shows a scan from its present state to its end", async () => {
  const scan = await register();
  await scan.update({ status: "running", checks_done: 1 });
  await using page = await openPage({
    "/page/": await readFile(path("browser.html"), "utf8"),
    "/page/subscribe.js": await readFile(path("node_modules/scanstream/dist/modules/subscribe.js"), "utf8"),
  });
  await page.goto(`${gateway.url}/page/#${scan.id}`);
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  expect(await page.locator("progress").evaluate((bar: HTMLProgressElement) => [bar.value, bar.max])).toEqual([1, 3]);
  await scan.check("a_check", [buildFinding({ check: "a_check", resource_name: "A policy" })], { done: 2, total: 3 });
  await page.getByRole("listitem").filter({ hasText: "FAIL A policy" }).waitFor();
  await scan.end("completed", counts);
  await page.getByRole("status").filter({ hasText: "ended" }).waitFor();
});

test("a producer publishes a job's progress and its end, each with its type", async () => {
  const jobId = crypto.randomUUID();
  const received: string[] = [];
  const handlers = { onMessage: (message: string) => void received.push(message), onLost() {} };
  const listening = new AbortController();
  const channel = `job:${tenant.id}:${jobId}`;
  await gateway.gateway.parts.dependencies.broker.subscribe(channel, handlers, listening.signal);
  await run(process.execPath, [path("publish.ts"), tenant.id, jobId], { env: environment });
  const events = received.map((message) => JSON.parse(message) as { readonly type: string; readonly data: object });
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    ...[1, 2, 3].map((done) => ({ type: "job.progress", data: { job_id: jobId, done, total: 3 } })),
    { type: "job.end", data: { job_id: jobId, status: "succeeded" } },
  ]);
  listening.abort();
});

test("a notifier posts what got worse with rule, CAT and actor, and nothing else, and survives a lost answer", async () => {
  const posts: string[] = [];
  const slack = createServer((request, response) => {
    // The first answer never arrives.
    void text(request).then((body) => (posts.push(body) === 1 ? response.destroy() : response.end("ok")));
  });
  const { url, close } = await listen(slack);
  const isOpen = await untilOpen();
  const client = spawn(process.execPath, [path("notify.ts")], {
    env: { ...environment, SLACK_URL: url },
    stdio: "ignore",
  });
  onTestFinished(async () => {
    client.kill();
    await close();
  });
  await isOpen();
  const monitor = await producer.follow();
  await monitor.store([
    aChange({ from: null, to: fail, cause: "start" }),
    aChange({ from: fail, to: pass }),
    aChange({ from: pass, to: fail, to_waived: true }),
    aChange({ from: pass, to: { status: "MANUAL", reason: "not_applicable" } }),
    aChange({ from: pass, to: fail, resource: { type: "policy", id: "1", name: "<Admins> & co" } }),
    aChange({ from: fail, from_waived: true, to: fail, resource: { type: "policy", id: "2", name: "Lapsed" } }),
  ]);
  await expect.poll(() => posts.length).toBe(2);
  const [worse = "", lapsed = ""] = posts.map((body) => (JSON.parse(body) as { readonly text: string }).text);
  expect(worse).toMatch(/^V-273186 \(CAT II\): PASS → FAIL: &lt;Admins&gt; &amp; co: .* \(Ada Admin .*\)$/);
  expect(lapsed).toContain("FAIL → FAIL: Lapsed");
});

/** A page whose own server, at the gateway's address, has these files and gives a member's token. */
async function openPage(files: Readonly<Record<string, string>>): Promise<Page> {
  const page = await browser.newPage();
  await page.route(`${gateway.url}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/session") return route.fulfill({ json: { access_token: tenant.token } });
    const body = files[pathname];
    if (body === undefined) return route.fallback();
    return route.fulfill({ body, contentType: pathname.endsWith(".js") ? "text/javascript" : "text/html" });
  });
  return page;
}

/** Called before a client is started, resolves when its stream is open: what is published earlier would not reach it. */
async function untilOpen(): Promise<() => Promise<void>> {
  const opened = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^scanstream_streams_opened_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await opened();
  return () => expect.poll(opened).toBe(before + 1);
}
