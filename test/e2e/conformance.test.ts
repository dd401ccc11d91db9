import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { builtPackage, startConformance, temporaryFolder, type Outcome } from "../support/command_line.ts";

/** `npm run conformance -- client`: what it says of a client that is right, of one that is not, and of commands that are none. */

const clients = join(import.meta.dirname, "../conformance");
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly { readonly name: string; readonly result: string; readonly mistake: string | null }[];
}

function conform(...args: readonly string[]): Promise<Outcome> {
  return startConformance(["client", ...args], { cwd: folder.path }).finished;
}

function node(client: string): readonly string[] {
  return ["--", process.execPath, join(clients, client)];
}

describe("conformance -- client", () => {
  // By night all of them: some wait for what a client has to wait for.
  const isNightly = process.env["NIGHTLY"] === "1";
  test("subscribe passes every case", { timeout: 240_000 }, async () => {
    const cases = isNightly ? [] : ["--case", "reading,ending,redirect,404,token-refused,cut,state,snapshot"];
    const right = node("subscribe_client_main.ts");
    const { code, stdout } = await conform("--format", "json", "--heartbeat-seconds", "1", ...cases, ...right);
    const report = JSON.parse(stdout) as Report;
    expect(report.cases.filter(({ mistake }) => mistake !== null)).toEqual([]);
    expect(report.passed).toBe(isNightly ? 33 : 22);
    expect(code).toBe(0);
  });

  test("a careless client fails the cases that it gets wrong, and no other", { timeout: 240_000 }, async () => {
    const { code, stdout } = await conform(
      "--format",
      "json",
      "--case",
      "bytes,wrong-type,end,ended,404,token-refused,cut",
      ...node("careless_client_main.ts"),
    );
    const failed = (JSON.parse(stdout) as Report).cases.filter(({ result }) => result === "FAIL");
    expect(failed.map(({ name }) => name).join(" ")).toBe("bytes wrong-type end ended 404 token-refused");
    expect(code).toBe(1);
  });

  test("the client that docs/clients.md shows does what it is shown for", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/clients.md"), "utf8");
    const [, program = ""] = /^```js\n(\/\/ client\.mjs.*?)^```$/ms.exec(page) ?? [];
    // Beside the packages that it imports.
    const file = join(builtPackage, "../docs_client.mjs");
    await writeFile(file, program);
    const cases = "plain,bytes,multi-line,burst,end,duplicate-end,ended";
    const { code, stdout } = await conform("--case", cases, "--", process.execPath, file);
    expect(stdout).toContain("7 passed, 0 failed\n");
    expect(code).toBe(0);
  });

  test("a client that comes by itself finds the cases, and posts what it received", async () => {
    const command = startConformance(["client", "--case", "plain,ended"], { cwd: folder.path });
    const [, url = ""] = await command.until("stderr", /GET (http:\S+)/);
    const cases = (await (await fetch(url)).json()) as readonly Readonly<Record<string, string>>[];
    for (const { stream_url: stream = "", report_url: report = "" } of cases) {
      const frames = (await (await fetch(stream)).text()).split("\n\n").slice(0, -1);
      const lines = frames.map((frame) => {
        const [, event = "", data = ""] = /event: (.*)\ndata: (.*)/.exec(frame) ?? [];
        return JSON.stringify({ event, data });
      });
      await fetch(report, { method: "POST", body: lines.join("\n") });
    }
    const { code, stdout } = await command.finished;
    expect(stdout).toBe("PASS  reading      plain\nPASS  ending       ended\n2 passed, 0 failed\n");
    expect(code).toBe(0);
  });

  test("what a client writes beside events is shown, and cannot steer the terminal", async () => {
    const script = 'console.error("late"); console.log("\\u001b[2Jowned")';
    const { code, stdout } = await conform("--case", "plain", "--", process.execPath, "-e", script);
    expect(stdout).toMatch(/^FAIL  reading      plain {9}it wrote "\\u001b\[2Jowned": expected \{"event"/);
    expect(stdout).toContain("\n      A right client reports every event");
    expect(code).toBe(1);
  });

  test("Ctrl-C ends it, and the client, with what is known", async () => {
    const file = join(folder.path, "pid");
    const client = ["sh", "-c", `sleep 600 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`];
    const command = startConformance(["client", "--case", "plain", "--", ...client], {
      cwd: folder.path,
    });
    const pid = Number(await vi.waitFor(() => readFile(file, "utf8"), { timeout: 20_000 }));
    const { code, stdout } = await command.stop("SIGINT");
    expect(stdout).toBe("0 passed, 0 failed\n");
    expect(code).toBe(130);
    // Gone, or a process that has ended and was not waited for yet.
    await expect
      .poll(() => spawnSync("ps", ["-o", "stat=", "-p", String(pid)]).stdout.toString())
      .toMatch(/^(?:Z.*\n)?$/);
  });

  const wrong: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
    ["an unknown case", ["--case", "plain,nope"], /^--case "nope": no such case or group; --list shows them$/m],
    ["a program that is not there", ["--", "no-such-program"], /^Cannot start "no-such-program": /m],
    ["a heartbeat that is none", ["--heartbeat-seconds", "x"], /Expected seconds from 0.1 to 60/],
  ];
  test.each(wrong)("%s: one line, and exit 2", async (_, args, message) => {
    const { code, stdout, stderr } = await conform(...args);
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("a port that is taken: one line, and exit 2", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await conform("--port", String(port));
    server.close();
    expect(stderr).toBe(`--port ${port}: cannot listen there (EADDRINUSE)\n`);
    expect(code).toBe(2);
  });

  test("--list shows every case with what a right client does", async () => {
    const { code, stdout } = await conform("--list");
    expect(stdout.trimEnd().split("\n")).toHaveLength(33);
    expect(stdout).toMatch(/^ending +ended +A right client stops at 204: the resource had ended$/m);
    expect(code).toBe(0);
  });
});
