import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callCommand } from "../support/called_command.ts";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import type { Outcome } from "../support/command_line.ts";
import { startReceiver } from "../support/webhook_receiver.ts";

let gateway: CommandGateway;
beforeAll(async () => {
  gateway = await startCommandGateway({ WEBHOOK_ALLOW_PRIVATE: "1" });
});
afterAll(() => gateway[Symbol.asyncDispose]());

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(["webhooks", ...args], { cwd: gateway.folder, env: gateway.env });
}

async function runJson(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...args, "--format", "json");
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test("webhooks from the command line: made, tested, looked at, sent again, given another secret, removed", async () => {
  let status = 500;
  await using receiver = await startReceiver({ answer: (response) => response.writeHead(status).end("Out of order") });
  const made = await runJson("add", receiver.url, "--events", "scan.end,monitor.error");
  const id = String(made["id"]);
  expect(made).toMatchObject({ events: ["scan.end", "monitor.error"], format: "json", enabled: true });
  expect((await run("list")).stdout.split("\n")).toEqual([
    expect.stringMatching(/^WEBHOOK +STATE +FORMAT +EVENTS +CREATED +URL$/),
    expect.stringMatching(new RegExp(`^${id} +enabled +json +scan.end,monitor.error +\\S+ +${receiver.url}$`)),
    "",
  ]);
  expect((await run("list", "--format", "json")).stdout).not.toContain("whsec_");

  const queued = await runJson("test", id);
  await receiver.waitFor(1);
  await expect
    .poll(async () => (await run("deliveries", id)).stdout, { timeout: 15_000 })
    .toMatch(
      new RegExp(`^${String(queued["id"])} +webhook.test +pending +1 +\\S+ +\\S+ +HTTP 500: Out of order$`, "m"),
    );
  status = 204;
  await runJson("replay", id, String(queued["id"]));
  const [, again] = await receiver.waitFor(2);
  new Webhook(String(made["secret"])).verify(again?.body ?? "", again?.headers as Record<string, string>);
  await expect
    .poll(async () => (await run("deliveries", id, "--status", "delivered")).stdout, { timeout: 15_000 })
    .toContain(String(queued["id"]));
  expect((await run("deliveries", id, "--status", "dead")).stdout).toBe("Nothing found\n");

  const rotated = await runJson("rotate-secret", id);
  expect(rotated["secret"]).not.toBe(made["secret"]);
  expect(await run("remove", id)).toEqual({
    code: 0,
    stdout: "",
    stderr: `Removed ${id}: it receives no more messages\n`,
  });
  expect((await run("list")).stdout).toBe("Nothing found\n");
});

test("what is wrong is one clear line, and nothing is sent", async () => {
  const unknown = "00000000-0000-4000-8000-000000000000";
  const wrong: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [["add", "hooks.example"], /^URL "hooks.example": expected one like https:/],
    [
      ["add", "https://hooks.example", "--events", "scan.begin"],
      /^--events "scan.begin": expected scan.end, finding.created, /,
    ],
    [["add", "https://a:b@hooks.example"], /the body is not valid: \/url must not contain a user name/i],
    [["test", "x"], /^ID "x": expected the UUID of a webhook/],
    [["deliveries", "x"], /^ID "x": expected the UUID of a webhook/],
    [["replay", unknown, "x"], /^DELIVERY-ID "x": expected the UUID of a delivery/],
    [["remove", unknown], /No such webhook/],
  ];
  for (const [args, line] of wrong) {
    const { code, stdout, stderr } = await run(...args);
    expect(stderr).toMatch(line);
    expect([code, stdout, stderr.trimEnd().split("\n").length], args.join(" ")).toEqual([2, "", 1]);
  }
});
