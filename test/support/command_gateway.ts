import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { runCommand, startCommand, temporaryFolder } from "./command_line.ts";

/** A gateway as `serve` starts it, with a tenant and a key, and a folder to run commands in. */
export interface CommandGateway extends AsyncDisposable {
  readonly folder: string;
  /** `SCANSTREAM_URL` and `SCANSTREAM_API_KEY`. */
  readonly env: Readonly<Record<string, string>>;
  get(path: string): Promise<Record<string, unknown>>;
  post(path: string, body: object): Promise<unknown>;
  registerScan(): Promise<RegisteredScan>;
  publish(scan: RegisteredScan, event: { readonly type: string; readonly data: object }): Promise<void>;
  /** The types of the events that a follower hears from now until the stream ends. */
  follow(scanId: string): Promise<readonly string[]>;
}

export interface RegisteredScan {
  readonly id: string;
  readonly channel: string;
}

export async function startCommandGateway(): Promise<CommandGateway> {
  const folder = await temporaryFolder();
  const process = startCommand(["serve"], { cwd: folder.path, env: { PORT: "0" } });
  const url = (await process.until("stdout", /http:\/\/127\.0\.0\.1:\d+/))[0];
  const { id = "" } = await admin("tenant", "create", "--name", "Acme");
  const { api_key: apiKey = "" } = await admin("api-key", "create", "--tenant", id, "--name", "ci");
  const authorization = `Api-Key ${apiKey}`;

  async function admin(...args: readonly string[]): Promise<Record<string, string>> {
    const { stdout } = await runCommand(["admin", ...args, "--format", "json"], { cwd: folder.path });
    return JSON.parse(stdout) as Record<string, string>;
  }

  async function post(path: string, body: object): Promise<unknown> {
    const headers = { authorization, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.ok, await response.clone().text()).toBe(true);
    return response.json();
  }

  return {
    folder: folder.path,
    env: { SCANSTREAM_URL: url, SCANSTREAM_API_KEY: apiKey },
    async get(path) {
      return (await (await fetch(`${url}${path}`, { headers: { authorization } })).json()) as Record<string, unknown>;
    },
    post,
    registerScan: async () => (await post("/api/v1/scans", {})) as RegisteredScan,
    async publish({ channel }, event) {
      await post(`/api/v1/channels/${encodeURIComponent(channel)}/events`, event);
    },
    async follow(scanId) {
      const response = await fetch(`${url}/api/v1/scans/${scanId}/event-stream`, { headers: { authorization } });
      const types: string[] = [];
      const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { event } of messages ?? []) types.push(event ?? "");
      return types;
    },
    async [Symbol.asyncDispose]() {
      await process.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A practice org, and the variables with which a scan reads it. */
export interface CommandOrg extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
}

export async function startCommandOrg(folder: string, latencyMs = 0): Promise<CommandOrg> {
  const org: PracticeOrg = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs });
  const { privateKeyFile } = await publishCredentials(org, join(folder, `org-${new URL(org.url).port}`));
  return {
    env: { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
    [Symbol.asyncDispose]: () => org.stop(),
  };
}
