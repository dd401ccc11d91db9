import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../scanner/practice_org/create_practice_org.ts";
import { publishCredentials } from "../../scanner/practice_org/credentials.ts";
import type { Report } from "../../shared/report.ts";
import { runCommand, startCommand, temporaryFolder, type Outcome, type Running } from "../support/command_line.ts";

/** What a command does when a file or a standard stream cannot be written: a full disk, a directory, a closed pipe. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let org: PracticeOrg;
let gateway: Running;
let gatewayUrl: string;
let apiKey: string;
let idpEnv: Record<string, string>;
let streamEnv: Record<string, string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  gateway = startCommand(["serve"], { cwd: folder.path, env: { PORT: "0" } });
  org = await createPracticeOrg({ profile: { name: "typical" }, role: "super" });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  idpEnv = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
  gatewayUrl = (await gateway.until("stdout", /http:\/\/127\.0\.0\.1:\d+/))[0];
  const { id = "" } = await admin("tenant", "create", "--name", "Acme");
  apiKey = (await admin("api-key", "create", "--tenant", id, "--name", "ci"))["api_key"] ?? "";
  streamEnv = { ...idpEnv, SCANSTREAM_URL: gatewayUrl, SCANSTREAM_API_KEY: apiKey };
});

afterAll(async () => {
  await org.stop();
  await gateway.stop();
  await folder[Symbol.asyncDispose]();
});

async function admin(...args: readonly string[]): Promise<Record<string, string>> {
  const { stdout } = await runCommand(["admin", ...args, "--format", "json"], { cwd: folder.path });
  return JSON.parse(stdout) as Record<string, string>;
}

/** The command line as part of a line of bash: `"$@" > /dev/full`. */
function shell(line: string, args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return runCommand(args, { cwd: folder.path, env, shell: line });
}

async function getJson(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${gatewayUrl}${path}`, { headers: { authorization: `Api-Key ${apiKey}` } });
  return (await response.json()) as Record<string, unknown>;
}

/** The types of the events that a follower hears until its stream ends. */
async function follow(scanId: string): Promise<readonly string[]> {
  const response = await fetch(`${gatewayUrl}/api/v1/scans/${scanId}/event-stream`, {
    headers: { authorization: `Api-Key ${apiKey}` },
  });
  const types: string[] = [];
  const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event } of messages ?? []) types.push(event ?? "");
  return types;
}

const oneCheck = ["--check", "authenticator_password_minimum_length_15"];

function expectNoBug({ stderr }: Outcome): void {
  expect(stderr).not.toContain("This is a bug");
  expect(stderr).not.toMatch(/\n\s+at /);
}

describe("artifacts on a full disk", () => {
  test("exit with 2 and one line, and the report, the stored scan and its end are there all the same", async () => {
    const slow = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 50 });
    const { privateKeyFile } = await publishCredentials(slow, join(folder.path, "slow"));
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1", "--save-artifacts", "/dev/full"], {
      cwd: folder.path,
      env: { ...streamEnv, IDP_ORG_URL: slow.url, IDP_CLIENT_ID: slow.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
    });
    const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
    const heard = follow(id);
    const outcome = await running.finished;
    await slow.stop();
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr.match(/^.*ENOSPC.*$/gm)).toEqual([
      'Cannot write --save-artifacts "/dev/full": no space left on device (ENOSPC): expected a disk with room for it',
    ]);
    const report = JSON.parse(outcome.stdout) as Report;
    expect(report.checks).toHaveLength(29);
    expect((await heard).at(-1)).toBe("scan.end");
    expect(await getJson(`/api/v1/scans/${id}`)).toMatchObject({ status: "completed", ...report.summary });
  });

  test("of collect exit with 2 and the reason", async () => {
    const outcome = await runCommand(["collect", ...oneCheck, "--save-artifacts", "/dev/full"], {
      cwd: folder.path,
      env: idpEnv,
    });
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("(ENOSPC)");
    expect(outcome.stderr).not.toContain("Artifacts of");
  });

  test("of an interrupted scan: 130 stays, and the reason is said", async () => {
    const slow = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 150 });
    const { privateKeyFile } = await publishCredentials(slow, join(folder.path, "interrupted"));
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1", "--save-artifacts", "/dev/full"], {
      cwd: folder.path,
      env: { IDP_ORG_URL: slow.url, IDP_CLIENT_ID: slow.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
    });
    await running.until("stderr", /\[ 3\/29\]/);
    const { code, stdout, stderr } = await running.stop("SIGINT");
    await slow.stop();
    expect(code).toBe(130);
    expect(stderr).toContain("(ENOSPC)");
    expect((JSON.parse(stdout) as Report).scan.status).toBe("cancelled");
  });
});

describe("places that cannot be written are refused before the first request", () => {
  test.each([
    ["a directory in the place of the artifacts", ["--save-artifacts", "taken"], /--save-artifacts "taken": .*EISDIR/],
    ["a file in the place of a folder", ["--save-artifacts", "file/a.json"], /"file\/a\.json": .*ENOTDIR/],
    ["a folder that is not there", ["--save-artifacts", "none/a.json"], /"none\/a\.json": .*ENOENT/],
    ["a name that is too long", ["--save-artifacts", "a".repeat(300)], /ENAMETOOLONG/],
    ["a file in the place of --output", ["--output", "file"], /--output "file": .*EEXIST/],
    ["a directory in the place of a report", ["--output", "."], /--output "scan\.txt": .*EISDIR/],
  ])("%s", async (_, args, message) => {
    await mkdir(join(folder.path, "taken"), { recursive: true });
    await mkdir(join(folder.path, "scan.txt"), { recursive: true });
    await writeFile(join(folder.path, "file"), "");
    const outcome = await runCommand(["scan", ...oneCheck, ...args], { cwd: folder.path, env: idpEnv });
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).toMatch(/: expected /);
    expect(outcome.stderr).not.toContain("Scanning");
    expect(outcome.stdout).toBe("");
  });
});

describe("reports in a folder", () => {
  test("on a disk that becomes full: what fits is written, nothing is there by half, exit 2", async () => {
    const output = join(folder.path, "full");
    await mkdir(output);
    await writeFile(join(output, "scan.ckl"), "the checklist of yesterday");
    const args = ["scan", "--format", "ckl,markdown,junit,csv", "--output", "full", "--quiet", ...oneCheck];
    const outcome = await shell('ulimit -f 24; exec "$@"', args, idpEnv);
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(
      /^Cannot write --output "full\/scan\.ckl": file too large \(EFBIG\): expected .*\n$/,
    );
    expect(await readFile(join(output, "scan.ckl"), "utf8")).toBe("the checklist of yesterday");
    expect((await readdir(output)).toSorted()).toEqual(["scan.ckl", "scan.csv", "scan.junit.xml", "scan.md"]);
    expect(await readFile(join(output, "scan.junit.xml"), "utf8")).toMatch(/<\/testsuites>\s*$/);
  });

  test("a link to a full device in the place of one: the others are written", async () => {
    const output = join(folder.path, "linked");
    await mkdir(output);
    await symlink("/dev/full", join(output, "scan.json"));
    const args = ["scan", "--format", "json,csv", "--output", "linked", "--fail-on", "never", ...oneCheck];
    const outcome = await runCommand(args, { cwd: folder.path, env: idpEnv });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write --output "linked\/scan\.json": .*\(ENOSPC\)/m);
    expect(outcome.stderr).toContain("Wrote linked/scan.csv");
    expect(outcome.stderr).not.toContain("Wrote linked/scan.json");
  });
});

describe("standard output", () => {
  test.each(["json", "csv", "table"])("on a full disk loses a %s report: exit 2 and one line", async (format) => {
    const args = ["scan", "--format", format, "--fail-on", "never", "--quiet", ...oneCheck];
    const outcome = await shell('"$@" > /dev/full', args, idpEnv);
    expect(outcome).toEqual({
      code: 2,
      stdout: "",
      stderr: "Cannot write standard output: no space left on device (ENOSPC): expected a disk with room for it\n",
    });
  });

  test("on a disk that becomes full in the middle of a report: exit 2 and the reason", async () => {
    const outcome = await shell('ulimit -f 1; "$@" > cut.json', ["checks", "--format", "json"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write standard output: .*\(EFBIG\).*\n$/);
  });

  test("an artifacts file that is standard output gets there", async () => {
    const args = ["collect", "--save-artifacts", "/dev/stdout", "--quiet", ...oneCheck];
    const { code, stdout } = await shell('"$@" | cat', args, idpEnv);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { checks: [oneCheck[1]] }]);
  });

  test("that its reader closes ends quietly with 141, as SIGPIPE does, and the stored scan is whole", async () => {
    const args = ["scan", "--format", "json", ...oneCheck];
    const outcome = await shell('"$@" | true; exit "${PIPESTATUS[0]}"', args, streamEnv);
    expectNoBug(outcome);
    expect(outcome.code).toBe(141);
    expect(outcome.stderr).not.toContain("Cannot write");
    const [, id = ""] = /Streaming as scan ([0-9a-f-]{36})/.exec(outcome.stderr) ?? [];
    expect(await getJson(`/api/v1/scans/${id}`)).toMatchObject({ status: "completed", checks_done: 1 });
  });

  test.each([
    ["checks", ["checks"]],
    ["explain", ["explain", "V-273186"]],
    ["doctor", ["doctor"]],
    ["doctor as JSON", ["doctor", "--format", "json"]],
    ["admin", ["admin", "tenant", "list"]],
    ["help", ["--help"]],
    ["version", ["--version"]],
  ])("of %s on a full disk: exit 2 and one line", async (_, args) => {
    const outcome = await shell('"$@" > /dev/full', args, idpEnv);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write standard output: .*\(ENOSPC\).*\n$/);
  });

  test("of evaluate on a full disk: exit 2", async () => {
    await runCommand(["collect", ...oneCheck, "--save-artifacts", "kept.json"], { cwd: folder.path, env: idpEnv });
    const outcome = await shell('"$@" > /dev/full', ["evaluate", "--from-artifacts", "kept.json"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write standard output: .*\(ENOSPC\).*\n$/);
  });

  test.each([
    ["on a full disk", '"$@" > /dev/full', 2],
    ["that its reader closes", '"$@" | true; exit "${PIPESTATUS[0]}"', 141],
  ])("of watch %s: it stops following", async (_, line, code) => {
    const { id } = await registerScan();
    const watching = startCommand(["watch", id], { cwd: folder.path, env: streamEnv, shell: line });
    await watching.until("stderr", /Following/);
    await publish(id, { type: "scan.progress", data: { scan_id: id, check: "a" } });
    expect((await watching.finished).code).toBe(code);
  });

  test("of serve on a full disk: the gateway stays up", async () => {
    const cwd = join(folder.path, "served");
    await mkdir(cwd);
    const served = startCommand(["serve"], { cwd, env: { PORT: "0" }, shell: 'exec "$@" > /dev/full' });
    const [, url = ""] = await served.until("stderr", /"url":"(http:[^"]+)"/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await served.stop()).code).toBe(2);
  });
});

interface RegisteredScan {
  readonly id: string;
  readonly channel: string;
}

async function post(path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(`${gatewayUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.ok, await response.clone().text()).toBe(true);
  return response.json();
}

const channels = new Map<string, string>();

async function registerScan(): Promise<RegisteredScan> {
  const scan = (await post("/api/v1/scans", {})) as RegisteredScan;
  channels.set(scan.id, scan.channel);
  return scan;
}

async function publish(id: string, event: object): Promise<void> {
  await post(`/api/v1/channels/${encodeURIComponent(channels.get(id) ?? "")}/events`, event);
}

describe("standard error", () => {
  test.each([
    ["is on a full disk", '"$@" 2> /dev/full'],
    ["is closed", '"$@" 2>&-'],
    ["has no reader", '{ "$@" 2>&1 >&3 3>&- | true; exit "${PIPESTATUS[0]}"; } 3>&1'],
  ])("that %s ends no scan", async (_, line) => {
    const { code, stdout } = await shell(line, ["scan", "--format", "json"], idpEnv);
    expect((JSON.parse(stdout) as Report).checks).toHaveLength(29);
    expect(code).toBe(1);
  });
});

describe("a named pipe", () => {
  test("that nobody reads is not waited for", async () => {
    await promisify(execFile)("mkfifo", [join(folder.path, "unread")]);
    const args = ["collect", ...oneCheck, "--save-artifacts", "unread"];
    const outcome = await runCommand(args, { cwd: folder.path, env: idpEnv });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write --save-artifacts "unread": .*\(ENXIO\): expected .*reads/m);
  });

  test("with a reader carries everything", async () => {
    await promisify(execFile)("mkfifo", [join(folder.path, "read")]);
    const args = ["collect", "--save-artifacts", "read"];
    const { code, stdout } = await shell('"$@" & cat read; wait $!', args, idpEnv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ checks: expect.arrayContaining(oneCheck.slice(1)) });
  });
});

describe("an internal error", () => {
  test("of a scan exits with 4, and its followers hear the end", async () => {
    const slow = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 150 });
    const { privateKeyFile } = await publishCredentials(slow, join(folder.path, "failing"));
    const bug = "process.on('SIGUSR2',()=>{throw(new(Error)('boom'))})";
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1"], {
      cwd: folder.path,
      env: {
        ...streamEnv,
        IDP_ORG_URL: slow.url,
        IDP_CLIENT_ID: slow.clientId,
        IDP_PRIVATE_KEY_FILE: privateKeyFile,
        NODE_OPTIONS: `--import=data:text/javascript,${bug}`,
      },
    });
    const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
    const heard = follow(id);
    await running.until("stderr", /\[ 3\/29\]/);
    const { code, stderr } = await running.stop("SIGUSR2");
    await slow.stop();
    expect(code, stderr).toBe(4);
    expect(stderr).toMatch(/This is a bug of scanstream .*report it.*issue/);
    expect(stderr).toContain("boom");
    expect((await heard).at(-1)).toBe("scan.end");
    expect(["cancelled", "failed"]).toContain((await getJson(`/api/v1/scans/${id}`))["status"]);
  });
});
