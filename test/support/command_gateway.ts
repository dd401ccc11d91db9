import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { runCommand, temporaryFolder, type Outcome } from "./command_line.ts";
import { createScan, startTestGateway, type TestScan } from "./test_gateway.ts";

/** A gateway with a tenant and a key, and a folder to run commands in. */
export interface CommandGateway extends AsyncDisposable {
  readonly folder: string;
  /** `SCANSTREAM_URL` and `SCANSTREAM_API_KEY`. */
  readonly env: Readonly<Record<string, string>>;
  get(path: string): Promise<Record<string, unknown>>;
  /** Rejects what the gateway refuses; null: the answer has no body. */
  call(method: string, path: string, json?: object): Promise<unknown>;
  registerScan(): Promise<TestScan>;
  /** As a producer with the broker's credentials does. */
  publish(scan: TestScan, event: { readonly type: string; readonly data: object }): Promise<void>;
  /** The types of the events that a subscriber receives from now until the stream ends. */
  follow(scanId: string): Promise<readonly string[]>;
}

export async function startCommandGateway(environment: Environment = {}): Promise<CommandGateway> {
  const folder = await temporaryFolder();
  const gateway = await startTestGateway(environment);
  const as = `Api-Key ${gateway.acme.apiKey}`;

  return {
    folder: folder.path,
    env: { SCANSTREAM_URL: gateway.url, SCANSTREAM_API_KEY: gateway.acme.apiKey },
    async get(path) {
      return (await (await gateway.request(path, { as })).json()) as Record<string, unknown>;
    },
    async call(method, path, json) {
      const response = await gateway.request(path, { as, method, ...(json === undefined ? {} : { json }) });
      const text = await response.text();
      expect(response.ok, text).toBe(true);
      return text === "" ? null : JSON.parse(text);
    },
    registerScan: () => createScan(gateway, gateway.acme),
    publish: ({ channel }, event) => gateway.gateway.parts.dependencies.broker.publish(channel, JSON.stringify(event)),
    async follow(scanId) {
      const response = await gateway.request(`/api/v1/scans/${scanId}/event-stream`, { as });
      const types: string[] = [];
      const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { event } of messages ?? []) types.push(event ?? "");
      return types;
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
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

/** A gateway, an org, and a folder in which commands of both run. */
export interface CommandStage extends AsyncDisposable {
  readonly gateway: CommandGateway;
  /** Folder in which commands run. */
  readonly cwd: string;
  /** The variables with which a scan reads the org. */
  readonly idpEnv: Readonly<Record<string, string>>;
  /** The command line as part of a line of bash: `"$@" > /dev/full`. */
  shell(line: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Outcome>;
}

export async function startCommandStage(): Promise<CommandStage> {
  const gateway = await startCommandGateway();
  const cwd = gateway.folder;
  const org = await startCommandOrg(cwd);
  return {
    gateway,
    cwd,
    idpEnv: org.env,
    shell: (line, args, env = {}) => runCommand(args, { cwd, env, shell: line }),
    async [Symbol.asyncDispose]() {
      await org[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

export function expectNoBug({ stderr }: Outcome): void {
  expect(stderr).not.toContain("This is a bug");
  expect(stderr).not.toMatch(/\n\s+at /);
}
