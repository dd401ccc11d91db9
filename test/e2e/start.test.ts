import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { ownFolder } from "../support/clean_up.ts";
import { builtPackage, startBinary, unoptimized } from "../support/command_line.ts";

const root = join(import.meta.dirname, "../..");
const folder = await ownFolder();
// As a person may call it.
const cwd = join(folder, "it's my folder");
// No disk has room for its log.
await mkdir(join(cwd, ".scanstream"), { recursive: true });
await symlink("/dev/full", join(cwd, ".scanstream/gateway.log"));
await cp(builtPackage, join(folder, "dist"), { recursive: true });
// As in a checkout, where the embedded database is installed.
await cp(join(root, "package.json"), join(folder, "package.json"));
await symlink(join(root, "node_modules"), join(folder, "node_modules"));

function start(program: string) {
  return startBinary(process.execPath, [...unoptimized, program], { cwd, env: { PORT: "0" } });
}

async function getJson(url: string, accessToken?: string): Promise<Record<string, unknown>> {
  const headers = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

test("npm start streams one scan to its page's session, ends it, and continues unbuilt on the kept state", async () => {
  const first = start(join(folder, "dist/start.js"));
  const [, url = ""] = await first.until("stdout", /Live page\s+(http:\/\/127\.0\.0\.1:\d+)\//);
  expect((await fetch(url)).headers.get("content-type")).toContain("text/html");
  const session = await getJson(`${url}/demo/session`);
  const token = String(session["access_token"]);

  const [, scanId = ""] = await first.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
  const stream = await fetch(`${url}/api/v1/scans/${scanId}/event-stream`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(stream.status).toBe(200);
  const types: string[] = [];
  const messages = stream.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event } of messages ?? []) types.push(event ?? "");
  expect(types.at(-1)).toBe("scan.end");
  expect(types.filter((type) => type === "scan.progress").length).toBeGreaterThan(1);

  await first.until("stdout", /Everything stays up[^]*Open the admin page/);
  const pasted = (first.output.stdout.match(/^ {2}export .*$/gm) ?? []).join("\n");
  const shown = await promisify(execFile)("bash", ["-c", `${pasted}\nenv -0`], { env: {} });
  const variables = Object.fromEntries(shown.stdout.split("\0").map((line) => line.split(/=(.*)/s, 2)));
  expect(variables).toMatchObject({ IDP_ORG_URL: expect.stringMatching(/^http:/), SCANSTREAM_URL: url });
  expect(await readFile(variables["IDP_PRIVATE_KEY_FILE"], "utf8")).toContain("PRIVATE KEY");
  expect(await getJson(`${url}/api/v1/scans/${scanId}`, token)).toMatchObject({
    status: "completed",
    checks_done: catalog.length,
  });
  // One act that moves several results.
  const body = JSON.stringify({ name: "zone-off", actor: "dana@practice.example" });
  const headers = { "content-type": "application/json" };
  await fetch(`${variables["IDP_ORG_URL"]}/practice/change`, { method: "POST", headers, body });
  await first.until("stdout", /zone "Headquarters" by Dana Duty[^]* → /);
  expect((await first.stop("SIGINT")).code).toBe(0);
  const second = start(join(root, "command_line/start.ts"));
  const [, again = ""] = await second.until("stdout", /Live page\s+(http:\/\/127\.0\.0\.1:\d+)\//);
  const secondSession = await getJson(`${again}/demo/session`);
  expect(secondSession["tenant_id"]).toBe(session["tenant_id"]);
  const scans = await getJson(`${again}/api/v1/scans`, String(secondSession["access_token"]));
  const kept = expect.objectContaining({ id: scanId, status: "completed" });
  expect(scans["items"]).toEqual(expect.arrayContaining([kept]));
  expect((await second.stop("SIGINT")).code).toBe(0);
});
