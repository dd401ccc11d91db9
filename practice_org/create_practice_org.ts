import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createAccessTokens } from "./auth/access_tokens.ts";
import { registered, type ServiceAppState } from "./auth/service_app.ts";
import { createReplayGuard } from "./auth/dpop_proof.ts";
import { createFaults, type Fault } from "./api/faults.ts";
import { requestTarget, serve } from "./http/server.ts";
import { createKeyPair, type PracticeKeyPair, type ServiceClient } from "./auth/credentials.ts";
import { oktaId, serviceApp } from "./contents/new_objects.ts";
import { profileContents, type Profile } from "./contents/profile.ts";
import { createRateLimits, type RateLimit } from "./http/rate_limits.ts";
import { adminOf } from "./log/admins.ts";
import { createAdminConsole, createOrgState, type AdminConsole } from "./changes/admin_console.ts";
import { createSystemLog, type LogEvent, type LogEventSpec, type SystemLog } from "./log/system_log.ts";
import type { IncomingMessage, Server } from "node:http";
import { answer } from "./api/answer.ts";
import { originOf, readKept, writeKept } from "./kept_org.ts";
import type { Caller, Org } from "./org.ts";
import { everyScope } from "./api/routes.ts";
import { manageScopes } from "./writes/write_routes.ts";
import type { OrgContents, Site } from "./contents/org_contents.ts";
import type { Role } from "./auth/service_app.ts";

export interface PracticeOrgOptions {
  /** A function returns contents for one test. */
  readonly profile: Profile | ((site: Site) => OrgContents);
  readonly role: Role;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** The address that clients use, behind a proxy for example. Default: the one it listens on. */
  readonly publicUrl?: string;
  readonly faults?: readonly Fault[];
  /** Added to every answer. */
  readonly latencyMs?: number;
  readonly rateLimit?: Partial<RateLimit>;
  /** Milliseconds since the epoch; the org's `date`, its tokens and its rate limits go by it. */
  readonly clock?: () => number;
  /** Default: a new RSA key. */
  readonly keyPair?: PracticeKeyPair;
  /** Has a second service application, Terraform's, which may write; default: nothing is written. */
  readonly isWritable?: boolean;
  /** Terraform's key. Default: a new one. */
  readonly terraformKeyPair?: PracticeKeyPair;
  /** Without prefix. Default: those of all routes, but `orgs.read`. */
  readonly grantedScopes?: readonly string[];
  readonly dpop?: "required" | "off";
  /** Without a service app: a person creates it on the admin page. */
  readonly isFresh?: boolean;
  /** File that keeps each change, and from which it goes on. Default: it is a new org each time. */
  readonly keptFile?: string;
}

interface LoggedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Null while there is no answer, and after a fault that sends none. */
  readonly status: number | null;
}

/** The scanner's service application, and the org that it scans. */
export interface PracticeOrg extends AdminConsole, ServiceClient {
  /** The one that clients use. */
  readonly url: string;
  /** The one it listens on. */
  readonly port: number;
  /** Terraform's, with the role Super Administrator; null where nothing is writable. */
  readonly terraform: ServiceClient | null;
  /** In the order of arrival: the newest 20,000. */
  readonly requests: readonly LoggedRequest[];
  setFaults(faults: readonly Fault[]): void;
  /** As it is now. */
  contents(): OrgContents;
  /** Writes events of one transaction that no change of the org goes with. */
  writeEvents(specs: readonly LogEventSpec[]): readonly LogEvent[];
  /** Closes open connections too. */
  stop(): Promise<void>;
}

const defaultGrantedScopes = everyScope.filter((scope) => scope !== "orgs.read");

const defaultRateLimit: RateLimit = { perWindow: 600, windowSeconds: 60, buckets: { token: 150, logs: 60 } };

/** Starts a local identity provider on loopback. */
export async function createPracticeOrg(options: PracticeOrgOptions): Promise<PracticeOrg> {
  const keys = options.keyPair ?? (await createKeyPair());
  const terraformKeys = options.isWritable === true ? (options.terraformKeyPair ?? (await createKeyPair())) : null;
  const log = createLog();
  const server = createServer();
  const listening = await listen(server, options.port ?? 0);
  const url = options.publicUrl ?? listening;
  const org = buildOrg(url, options, { keys, terraformKeys });
  const latencyMs = options.latencyMs ?? 0;
  // stop() does not wait for delayed answers.
  const stopping = new AbortController();
  server.on("request", (incoming, outgoing) => {
    const setStatus = log.begin(incoming);
    void serve(incoming, outgoing, {
      answer: (request) => answer(org, request),
      latencyMs,
      stopped: stopping.signal,
      setStatus,
    });
  });
  return {
    url,
    port: Number(new URL(listening).port || 80),
    ...clientOf(scannerId, keys),
    terraform: terraformKeys === null ? null : clientOf(terraformId, terraformKeys),
    requests: log.requests,
    setFaults: (next) => org.faults.set(next),
    contents: () => org.state.contents(),
    ...org.console,
    writeEvents: (specs) => org.log.write(specs, { actor: adminOf() }),
    stop() {
      stopping.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function clientOf(clientId: string, { privateKeyPem, privateKeyJwk }: PracticeKeyPair): ServiceClient {
  return { clientId, privateKeyPem, privateKeyJwk };
}

const scanner = "Compliance scanner";
const terraform = "Terraform";
const [scannerId, terraformId] = [oktaId("0oa", scanner), oktaId("0oa", terraform)];

interface Keys {
  readonly keys: PracticeKeyPair;
  readonly terraformKeys: PracticeKeyPair | null;
}

function buildOrg(url: string, options: PracticeOrgOptions, { keys, terraformKeys }: Keys): Org {
  const faults = createFaults(options.faults ?? []);
  const { isFresh = false, grantedScopes = defaultGrantedScopes, dpop = "required", keptFile } = options;
  const app: ServiceAppState = {
    isCreated: !isFresh,
    keys: isFresh ? [] : [{ jwk: keys.publicKeyJwk, isActive: true }],
    grantedScopes: new Set(isFresh ? [] : grantedScopes),
    role: isFresh ? "none" : options.role,
    dpop,
    hasPublicClientAdmins: false,
    clockOffsetMs: 0,
  };
  const apps = new Map<string, Caller>([[scannerId, { label: scanner, app }]]);
  if (terraformKeys !== null) {
    const scopes = new Set([...defaultGrantedScopes, ...manageScopes]);
    const own = {
      isCreated: true,
      keys: [{ jwk: terraformKeys.publicKeyJwk, isActive: true }],
      role: "super",
    } as const;
    apps.set(terraformId, { label: terraform, app: { ...own, grantedScopes: scopes } });
  }
  const now = options.clock ?? Date.now;
  const clock = () => now() + app.clockOffsetMs;
  const contentsOf = (at: Site) =>
    typeof options.profile === "function" ? options.profile(at) : profileContents(options.profile, at);
  const site: Site = { url, nowMs: clock() };
  const initial = contentsOf(site);
  const { id: orgId, serviceAppPolicyId: policyId } = initial;
  const origin = keptFile === undefined ? "" : originOf(contentsOf({ url, nowMs: 0 }));
  const kept = keptFile === undefined ? null : readKept(keptFile, origin);
  const appOf = (label: string) => serviceApp(site, { label, orgId, policyId, requiresDpop: dpop === "required" });
  const present = kept?.contents ?? initial;
  const contents = terraformKeys === null ? present : { ...present, apps: [...present.apps, appOf(terraform)] };
  const state = createOrgState(initial, { site, clock, contents });
  const written = createSystemLog(clock, () => faults.takeForChange(), kept?.entries);
  const cursorSecret = kept === null ? randomBytes(32) : Buffer.from(kept.cursorSecret, "base64url");
  const keep = () => {
    if (keptFile === undefined) return;
    const secret = cursorSecret.toString("base64url");
    writeKept(keptFile, { origin, contents: state.contents(), entries: written.entries(), cursorSecret: secret });
  };
  const log: SystemLog = {
    ...written,
    write(specs, by) {
      const events = written.write(specs, by);
      keep();
      return events;
    },
  };
  keep();
  return {
    url,
    state,
    console: createAdminConsole(state, log, { app, scopes: everyScope }),
    app,
    log,
    serviceApp: appOf(scanner),
    callers: apps,
    isWritable: terraformKeys !== null,
    clients: () => [...apps].flatMap(([id, caller]) => registered(caller.app, id) ?? []),
    tokens: createAccessTokens(),
    nonce: randomBytes(24).toString("base64url"),
    assertionReplays: createReplayGuard(),
    proofReplays: createReplayGuard(),
    rateLimits: createRateLimits({ ...defaultRateLimit, ...options.rateLimit }),
    faults,
    cursorSecret,
    clock,
  };
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason =
        cause.code === "EADDRINUSE"
          ? "another program uses it; choose another port, or 0 for any free one"
          : cause.message;
      reject(new Error(`Cannot listen on 127.0.0.1:${port}: ${reason}`, { cause }));
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string")
        throw new TypeError("Cannot read the address of the practice org");
      // In normal form: the address of the token endpoint is the audience of assertions.
      resolve(new URL(`http://127.0.0.1:${address.port}`).origin);
    });
  });
}

const maxLogged = 20_000;

function createLog() {
  const requests: { method: string; path: string; status: number | null }[] = [];
  return {
    requests,
    begin(incoming: IncomingMessage): (status: number) => void {
      const entry = { method: incoming.method ?? "GET", path: requestTarget(incoming), status: null as number | null };
      requests.push(entry);
      if (requests.length > maxLogged) requests.shift();
      return (status) => {
        entry.status = status;
      };
    },
  };
}
