import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPracticeOrg, type PracticeOrg, type PracticeOrgOptions } from "../practice_org/create_practice_org.ts";
import { builtPackage, startProgram } from "../test/support/command_line.ts";
import { createFollowProcess, type FollowProcess } from "../test/support/follow_process.ts";
import { buildPackage } from "../tools/build.ts";
import { startBackends } from "./backends.ts";
import { startProcess } from "./measured_process.ts";

/** The published program: a gateway of it on real Postgres and Redis, and followers of practice orgs. */
export interface FollowStage {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  /** A follower with its org, which has the profile `compliant` unless another is given; resolves after its first state. */
  follow(options?: FollowOptions): Promise<FollowedOrg>;
  /** For the gateway, as the API key's holder. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Stops the followers first. */
  stop(): Promise<void>;
}

export interface FollowOptions {
  readonly org?: Partial<PracticeOrgOptions>;
  readonly args?: readonly string[];
  readonly nodeOptions?: string;
}

export interface FollowedOrg {
  readonly org: PracticeOrg;
  readonly follower: FollowProcess;
  readonly monitorId: string;
  stop(): Promise<void>;
}

export async function startFollowStage(): Promise<FollowStage> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  const [backends] = await Promise.all([startBackends(), buildPackage(builtPackage)]);
  const program = join(builtPackage, "scanstream.js");
  const server = await startProcess({
    command: [process.execPath, program, "serve"],
    env: { ...backends.environment, HOST: "127.0.0.1", PORT: "0", DRAIN_DELAY_SECONDS: "0" },
    cwd: folder,
    until: /listens on (http:\/\/127\.0\.0\.1:\d+)/,
  });
  const gatewayUrl = server.match[1] ?? "";
  const { apiKey } = backends;
  const followed = new Set<FollowedOrg>();
  return { gatewayUrl, apiKey, follow, request, stop };

  async function follow(options: FollowOptions = {}): Promise<FollowedOrg> {
    const { args = [], nodeOptions } = options;
    const org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super", ...options.org });
    const cwd = await mkdtemp(join(folder, "org-"));
    const env = {
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY: org.privateKeyPem,
      SCANSTREAM_URL: gatewayUrl,
      SCANSTREAM_API_KEY: apiKey,
      ...(nodeOptions === undefined ? {} : { NODE_OPTIONS: nodeOptions }),
    };
    const start = () => startProgram(program, ["follow", "--format", "ndjson", ...args], { cwd, env });
    const follower = createFollowProcess(start);
    await follower.until((lines) => lines.length > 0);
    const one: FollowedOrg = {
      org,
      follower,
      monitorId: await monitorIdOf(org),
      async stop() {
        followed.delete(one);
        await follower.end("SIGTERM");
        await org.stop();
      },
    };
    followed.add(one);
    return one;
  }

  async function monitorIdOf(org: PracticeOrg): Promise<string> {
    for (;;) {
      const { items } = (await (await request("/api/v1/monitors?limit=200")).json()) as {
        readonly items: readonly { readonly id: string; readonly org_url: string }[];
      };
      const found = items.find(({ org_url: orgUrl }) => orgUrl === org.url);
      if (found !== undefined) return found.id;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  function request(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, gatewayUrl), { ...init, headers: { authorization: `Api-Key ${apiKey}` } });
  }

  async function stop(): Promise<void> {
    await Promise.all([...followed].map((one) => one.stop()));
    await server.stop();
    await backends.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
