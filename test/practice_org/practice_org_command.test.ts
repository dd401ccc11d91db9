import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandIo } from "../../command_line/command_io.ts";
import { changeCommand } from "../../practice_org/change_command.ts";
import { changes } from "../../practice_org/changes/admin_console.ts";
import { practiceOrgCommand } from "../../practice_org/practice_org_command.ts";
import { ownFolder } from "../support/clean_up.ts";

const folder = await ownFolder();

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

const flagsOf = (state: string) => ({ port: "0", profile: "typical", role: "super", latency: "0", state });

test("practice-org keeps its key for its owner, prints what a scan needs, and takes changes until it is interrupted", async () => {
  const state = join(folder, "it's mine");
  const { io, output, interrupt } = recordingIo();
  const running = practiceOrgCommand({ ...flagsOf(state), drift: "0.05" }, io);
  await expect.poll(() => output.stderr).toMatch(/^Admin page http:\/\/127\.0\.0\.1:\d+\/$/m);
  const url = /IDP_ORG_URL=(.*)/.exec(output.stdout)?.[1] ?? "";
  const keyFile = join(state, "practice_org_private_key.pem");
  expect(output.stdout).toContain(`IDP_PRIVATE_KEY_FILE='${keyFile.replace("'", "'\\''")}'\n`);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(state, "address"), "utf8")).toBe(`${url}\n`);

  const made = recordingIo();
  expect(await changeCommand(["sign-in"], { url, as: "sam@practice.example" }, made.io)).toBe(0);
  expect(made.output.stdout).toBe("sign-in policy.evaluate_sign_on\nsign-in user.session.start\n");
  await expect(changeCommand(["mfa-off"], { url, as: "eve" }, made.io)).rejects.toThrow(/expected one of alex@/);
  const names = () => [...output.stderr.matchAll(/^Changed: ([a-z-]+)$/gm)].map(([, name]) => name);
  await expect.poll(() => names().length).toBeGreaterThanOrEqual(2);
  for (const name of names()) expect(changes.map((change) => change.name)).toContain(name);
  interrupt();
  expect(await running).toBe(0);
  await expect(changeCommand(["mfa-off"], { url }, made.io)).rejects.toThrow(`No practice org answers at ${url}`);
});

test("change list names every change; an unknown change, another address and a wrong option are refused", async () => {
  const { io, output } = recordingIo();
  expect(await changeCommand(["list"], {}, io)).toBe(0);
  for (const { name, label } of changes) expect(output.stdout).toMatch(new RegExp(`^  ${name} +${label}$`, "m"));
  await expect(changeCommand(["explode"], {}, io)).rejects.toThrow(/Unknown change "explode"/);
  await expect(changeCommand(["mfa-off"], { url: "https://acme.okta.com" }, io)).rejects.toThrow("is no practice org");
  const wrong = { ...flagsOf(folder), profile: "large:x", role: "admin", fault: ["meteor"], drift: "0" };
  await expect(practiceOrgCommand(wrong, io)).rejects.toThrow(/large:N/);
});
