import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeCommand } from "../../practice_org/change_command.ts";
import { changes } from "../../practice_org/changes/org_changes.ts";
import { practiceOrgCommand } from "../../practice_org/practice_org_command.ts";
import { startOrg } from "./start_org.ts";
import type { CommandIo } from "../../command_line/command_io.ts";

function recordingIo() {
  const output = { stdout: "", stderr: "" };
  const interruption = new AbortController();
  const io = {
    stdout: (text: string) => void (output.stdout += text),
    terminal: { write: (text: string) => void (output.stderr += text) },
    interrupted: interruption.signal,
  } as CommandIo;
  return { io, output, interrupt: () => interruption.abort() };
}

describe("changeCommand", () => {
  test("makes changes in their order, as the admin that --as names, and prints a line for each event", async () => {
    const org = await startOrg({ profile: { name: "compliant" } });
    const { io, output } = recordingIo();
    const flags = { url: org.url, as: "sam@practice.example" };
    expect(await changeCommand(["app-added", "zone-off"], flags, io)).toBe(0);
    expect(output.stdout.split("\n")).toEqual([
      "app-added policy.lifecycle.create",
      "app-added policy.rule.add",
      "app-added application.lifecycle.create",
      "app-added policy.mapping.create",
      "app-added application.lifecycle.activate",
      "zone-off zone.deactivate",
      "",
    ]);
    expect(org.contents().zones.find(({ name }) => name === "Office network")).toMatchObject({ status: "INACTIVE" });
  });

  test("list prints every change with what it does, and reaches no org", async () => {
    const { io, output } = recordingIo();
    expect(await changeCommand(["list"], { url: "http://127.0.0.1:1" }, io)).toBe(0);
    for (const { name, label } of changes) expect(output.stdout).toMatch(new RegExp(`^  ${name} +${label}$`, "m"));
  });

  test("refuses before the first change when one name is unknown", async () => {
    const org = await startOrg();
    const before = JSON.stringify(org.contents());
    const made = changeCommand(["mfa-off", "explode"], { url: org.url }, recordingIo().io);
    await expect(made).rejects.toThrow(
      'Unknown change "explode": run `scanstream practice-org change list` for the names',
    );
    expect(JSON.stringify(org.contents())).toBe(before);
  });

  test("says why a change was not made", async () => {
    const org = await startOrg();
    const change = (name: string, as?: string) =>
      changeCommand([name], { url: org.url, ...(as === undefined ? {} : { as }) }, recordingIo().io);
    await expect(change("anonymizers-allowed")).rejects.toThrow("anonymizers-allowed: It is already set");
    await expect(change("mfa-off", "eve")).rejects.toThrow('mfa-off: Cannot act as "eve": expected one of alex@');
  });

  test.each(["https://acme.okta.com", "http://acme.okta.com", "127.0.0.1:8788", ""])(
    "--url %j is refused",
    async (url) => {
      await expect(changeCommand(["mfa-off"], { url }, recordingIo().io)).rejects.toThrow("is no practice org");
    },
  );

  test("names the address where no org answers", async () => {
    const org = await startOrg();
    await org.stop();
    await expect(changeCommand(["mfa-off"], { url: org.url }, recordingIo().io)).rejects.toThrow(
      `No practice org answers at ${org.url}`,
    );
  });
});

describe("practiceOrgCommand", () => {
  let state: string;
  beforeAll(async () => {
    state = await mkdtemp(join(tmpdir(), "practice-org-drift-"));
  });
  afterAll(() => rm(state, { recursive: true }));
  const flagsOf = (drift: string) => ({ port: "0", profile: "typical", role: "super", latency: "0", state, drift });

  test("--drift changes the org until it is interrupted", async () => {
    const { io, output, interrupt } = recordingIo();
    const running = practiceOrgCommand(flagsOf("0.05"), io);
    const names = () => [...output.stderr.matchAll(/^Changed: ([a-z-]+)$/gm)].map(([, name]) => name);
    await expect.poll(() => names().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    interrupt();
    expect(await running).toBe(0);
    for (const name of names()) expect(changes.map((change) => change.name)).toContain(name);
    expect(output.stderr).toMatch(/^Admin page http:\/\/127\.0\.0\.1:\d+\/$/m);
  });

  test.each(["0", "0.049", "86401", "soon"])("--drift %s is refused", async (drift) => {
    await expect(practiceOrgCommand(flagsOf(drift), recordingIo().io)).rejects.toThrow(
      /--drift: .* from 0\.05 to 86400/,
    );
  });
});
