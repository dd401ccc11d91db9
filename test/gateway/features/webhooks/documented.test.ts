import { spawn } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSecret, signatureHeaders } from "../../../../gateway/features/webhooks/signature.ts";
import { temporaryFolder } from "../../../support/command_line.ts";
import { freePort } from "../../../support/free_port.ts";
import { createScan, startTestGateway, type TestGateway } from "../../../support/test_gateway.ts";
import { startReceiver } from "../../../support/webhook_receiver.ts";

/** docs/webhooks.md: its payloads are what is sent, and its receiver takes it. */

const root = join(import.meta.dirname, "../../../..");
let gateway: TestGateway;
let page: string;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  [gateway, page, folder] = await Promise.all([
    startTestGateway({ WEBHOOK_ALLOW_PRIVATE: "1" }),
    readFile(join(root, "docs/webhooks.md"), "utf8"),
    temporaryFolder(),
  ]);
  await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
});
afterAll(async () => {
  await gateway.stop();
  await folder[Symbol.asyncDispose]();
});

function blocks(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text = ""]) => text);
}

/** The names of the fields at every depth, a list by its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return "value";
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
}

test("each payload in the document has the fields of one that is sent", async () => {
  await using receiver = await startReceiver();
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const send = async (method: string, path: string, json: unknown) => {
    const response = await gateway.request(`/api/v1${path}`, { as, method, json });
    expect(response.ok, await response.text()).toBe(true);
  };
  const documented = blocks("json").map((text) => JSON.parse(text) as { type: string; data: Record<string, unknown> });
  await send("POST", "/webhooks", { url: receiver.url, events: documented.map(({ type }) => type) });
  const monitor = `/monitors/${crypto.randomUUID()}`;
  await send("PUT", monitor, { org_url: "https://acme.okta.com", interval_seconds: 10 });
  for (const { data } of documented) {
    if (Array.isArray(data["changes"])) {
      const [{ id, check, fingerprint, cause, seen_at, actor_name, event_type }] = data["changes"] as [
        Record<string, unknown>,
      ];
      const explained_by = [{ uuid: "e1", event_type, actor: { name: actor_name } }];
      const resource = { type: "policy", id: "00p1a2b3", name: "Okta Admin Console" };
      const verdicts = { from: { status: "PASS", reason: null }, to: { status: "FAIL", reason: null }, actual: "" };
      const change = { id, check, fingerprint, cause, seen_at, explained_by, resource, ...verdicts };
      await send("POST", `${monitor}/changes`, { changes: [change] });
    } else if (typeof data["code"] === "string") {
      const { code: error_code, detail: error_detail, gap_from, gap_to } = data;
      await send("PATCH", monitor, { error_code, error_detail, gap_from, gap_to });
    } else if (Array.isArray(data["findings"])) {
      const { id } = await createScan(gateway, gateway.acme, { org_url: data["org_url"] });
      const findings = (data["findings"] as object[]).map((finding) => ({ ...finding, status: "FAIL" }));
      await send("POST", `/scans/${id}/findings`, { findings });
      await send("PATCH", `/scans/${id}`, { status: "completed" });
    }
  }
  const received = await receiver.waitFor(documented.length);
  const shapes = new Map(
    received.map(({ body }) => JSON.parse(body) as { type: string }).map((sent) => [sent.type, shapeOf(sent)]),
  );
  expect(documented).toHaveLength(4);
  for (const payload of documented) expect(shapeOf(payload), payload.type).toEqual(shapes.get(payload.type));
});

test("the receiver in the document takes a message once, and none that is not signed", async () => {
  const port = await freePort();
  const secret = createSecret();
  const [source = ""] = blocks("js");
  await writeFile(join(folder.path, "receiver.mjs"), source);
  const env = { PATH: process.env["PATH"], PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, [join(folder.path, "receiver.mjs")], { env });
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  try {
    const body = JSON.stringify({
      type: "webhook.test",
      timestamp: new Date().toISOString(),
      data: { webhook_id: "w" },
    });
    const message = { id: crypto.randomUUID(), timestamp: Math.floor(Date.now() / 1000), body };
    const headers = await signatureHeaders(message, [secret]);
    const post = (given: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers: given, body }).then(({ status }) => status);
    await expect.poll(() => post(headers).catch(() => 0), { timeout: 10_000 }).toBe(204);
    expect(await post(headers)).toBe(204);
    expect(await post({ ...headers, "webhook-id": "another" })).toBe(400);
    await expect.poll(() => output).toBe('webhook.test {"webhook_id":"w"}\n');
  } finally {
    child.kill();
  }
});
