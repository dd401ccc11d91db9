import { afterAll, beforeAll, expect, test } from "vitest";
import { callCommand } from "../support/called_command.ts";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import type { Outcome } from "../support/command_line.ts";

/** `members`, `keys` and `audit` against a gateway, with a key that manages. Only people make members. */

let gateway: CommandGateway;
beforeAll(async () => {
  gateway = await startCommandGateway();
  await gateway.addMember("auth0|ann", "viewer");
});
afterAll(() => gateway[Symbol.asyncDispose]());

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, { cwd: gateway.folder, env: gateway.env });
}

const columnsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll(/\S+Z/g, "TIME").split(/ {2,}/));

test("a member is listed and removed", async () => {
  expect(columnsOf((await run("members", "list")).stdout)).toEqual([
    ["SUB", "ROLE", "CREATED"],
    ["auth0|ann", "viewer", "TIME"],
    ["member@acme.test", "operator", "TIME"],
  ]);
  expect(await run("members", "remove", "auth0|ann")).toEqual({
    code: 0,
    stdout: "",
    stderr: 'Removed "auth0|ann": open streams close within 30 s\n',
  });
  expect(await run("members", "remove", "auth0|ann")).toEqual({
    code: 2,
    stdout: "",
    stderr: "Cannot remove the member: 404 No such member\n",
  });
});

test("the last admin stays, and the way out is named", async () => {
  await gateway.addMember("ada", "admin");
  const { code, stderr } = await run("members", "remove", "ada");
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^Cannot remove the member: 409 "ada" is the tenant's last admin: make another member admin first/,
  );
  await gateway.addMember("bob", "admin");
  expect((await run("members", "remove", "ada")).code).toBe(0);
});

test("a key is made, shown once, used, listed and revoked", async () => {
  const made = await run("keys", "create", "nightly scan", "--scopes", "publish,read", "--format", "json");
  const key = JSON.parse(made.stdout) as { readonly id: string; readonly api_key: string };
  const env = { ...gateway.env, SCANSTREAM_API_KEY: key.api_key };
  expect((await callCommand(["scans", "list"], { cwd: gateway.folder, env })).code).toBe(0);
  const refused = await callCommand(["keys", "list"], { cwd: gateway.folder, env });
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/^Cannot list the keys: 403 This needs an API key with the scope admin/);
  const { stdout } = await run("keys", "list");
  expect(columnsOf(stdout)[1]?.slice(0, 3)).toEqual([key.id, key.api_key.slice(0, 12), "publish,read"]);
  expect(stdout).not.toContain(key.api_key);
  expect((await run("keys", "revoke", key.id)).stderr).toBe(`Revoked ${key.id}: its open streams close within 30 s\n`);
  expect((await callCommand(["scans", "list"], { cwd: gateway.folder, env })).code).toBe(3);
});

test.each([
  [
    ["keys", "create", "x", "--scopes", "write"],
    '--scopes "write": expected read, publish, admin, or several with commas\n',
  ],
  [
    ["keys", "create", "x", "--expires-at", "soon"],
    "Cannot create the key: 422 The body is not valid: /expires_at expected",
  ],
  [["keys", "revoke", "x"], 'ID "x": expected the UUID of a key, as `keys list` shows it\n'],
  [["members", "remove", ""], "SUB: expected the member's sub"],
  [["audit", "list", "--from", "yesterday"], "Cannot list the audit events: 400 The query's from is not valid"],
] as const)("%j is refused in a line, with 2", async (args, words) => {
  const { code, stdout, stderr } = await run(...args);
  expect(stderr).toContain(words);
  expect([code, stdout]).toEqual([2, ""]);
});

test("the audit trail says who did what, and is filtered", async () => {
  await gateway.addMember("carol", "viewer");
  await run("members", "remove", "carol");
  const { stdout } = await run("audit", "list", "--target", "carol");
  const [head, row] = columnsOf(stdout);
  expect(head).toEqual(["TIME", "ACTION", "TARGET", "BY", "ACTOR"]);
  expect(row?.slice(0, 4)).toEqual(["TIME", "member.deleted", "carol", "api_key"]);
  const lines = (await run("audit", "list", "--limit", "1", "--format", "ndjson")).stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(1);
});
