import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "./package.json" with { type: "json" };
import { parseConfig } from "./gateway/config.ts";
import { UsageError } from "./shared/usage_error.ts";
import { createLog } from "./gateway/observability/log.ts";
import { startGateway, type RunningGateway } from "./gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "./gateway/runtime/static_files.ts";
import { webFolder } from "./gateway/runtime/web_folder.ts";
import type { CommandIo } from "./command_line/command_io.ts";
import { makeDirectory } from "./command_line/files.ts";
import { createProcessIo, openStandardStreams } from "./command_line/process_io.ts";
import { createPracticeOrg, type PracticeOrg } from "./practice_org/create_practice_org.ts";
import type { OpenIdProvider } from "./practice_org/sign_in/openid_provider.ts";
import { publishCredentials, loadKeyPair } from "./practice_org/auth/credentials.ts";
import { followCommand } from "./scanner/commands/follow_command.ts";
import { scanCommand } from "./scanner/commands/scan_command.ts";

/**
 * `npm start`: the main job on embedded defaults. A gateway, a practice org, one scan of it that is seen live in this
 * terminal and on the page, and all of it stays up. State is kept in `.scanstream/`.
 */
const stateDirectory = ".scanstream";
const demoFile = join(stateDirectory, "demo.json");
/** Slow enough that the scan can be watched; a real org answers about as fast. */
const practiceLatencyMs = 500;
const practiceConcurrency = 2;
const practicePort = 8788;
const sessionMinutes = 15;
const pageClientId = "scanstream-live-page";
const audience = "scanstream";
/** A real org is followed every ten seconds; here a person waits for it. */
const followSeconds = 3;
const { NO_COLOR, FORCE_COLOR, TERM } = process.env;

interface Demo {
  readonly tenant_id: string;
  readonly tenant_name: string;
  readonly sub: string;
  readonly api_key: string;
}

/** What the demo session needs, once it is open. */
let current: { readonly provider: OpenIdProvider; readonly demo: Demo } | null = null;
const interruption = new AbortController();
const streams = openStandardStreams();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(130);
    interruption.abort();
  });
}

try {
  await main();
} catch (error) {
  // Wrong settings have a message for people; anything else is a bug and keeps its trace.
  if (!(error instanceof UsageError)) throw error;
  say(error.message);
  process.exit(2);
}
await streams.flushed();
process.exit(0);

async function main(): Promise<void> {
  await makeDirectory(stateDirectory, 0o700);
  const org = await openPracticeOrg();
  const gateway = await openGateway(org);
  const demo = await openDemo(gateway);
  const provider = await offerSignIn(org, gateway, demo);
  current = { provider, demo };
  say(`\nscanstream ${packageJson.version}\n`);
  say(`  Live page    ${gateway.url}/`);
  const credentials = await publishCredentials(org, join(stateDirectory, "practice-org"));
  const env = {
    IDP_ORG_URL: org.url,
    IDP_CLIENT_ID: org.clientId,
    IDP_PRIVATE_KEY_FILE: credentials.privateKeyFile,
    SCANSTREAM_URL: gateway.url,
    SCANSTREAM_API_KEY: demo.api_key,
  };
  say(`  Practice org ${org.url}`);
  say(
    `  Sign in      as viola@, oscar@ or ada@practice.example (viewer, operator, admin); the page has a button for each`,
  );
  say(`  State        ${stateDirectory}/ (gateway.log, demo.json; delete the folder to start over)\n`);

  const io = createProcessIo(streams, {
    env: { ...env, NO_COLOR, FORCE_COLOR, TERM },
    interrupted: interruption.signal,
    mayColor: true,
  });
  await scanCommand({ format: "table", failOn: "never", concurrency: String(practiceConcurrency) }, io);
  if (!interruption.signal.aborted) {
    say(`The scan is kept at ${gateway.url}/. To scan again yourself:\n`);
    const gatewayLines = [`SCANSTREAM_URL=${gateway.url}`, `SCANSTREAM_API_KEY=${demo.api_key}`];
    for (const line of [...credentials.environmentLines, ...gatewayLines]) say(`  export ${line}`);
    say(
      `  npm run -s scanstream -- scan\n\nEverything stays up until Ctrl-C. A monitor follows the practice org from now on:`,
    );
    say(`  open its admin page ${org.url}/, change a setting, and watch the result update on the live page.\n`);
    await followPracticeOrg(org, io);
  }
  await Promise.all([gateway.stop({ drainMs: 500 }), org.stop()]);
}

/** Until it is interrupted. The scan before has shown the first state, so only what changes is written. */
async function followPracticeOrg(org: PracticeOrg, io: CommandIo): Promise<void> {
  // A state belongs to one org, and another port is another org.
  const state = join(stateDirectory, `follow-${org.port}`);
  const flags = { state, interval: String(followSeconds), format: "table" };
  const stdout = (text: string) => io.stdout(text.replaceAll(/^(?!.* → ).*\n/gm, ""));
  await followCommand(flags, { ...io, stdout });
}

/** The practice org signs people in, and the tokens of the demo's own session are its, too. */
async function openGateway(org: PracticeOrg): Promise<RunningGateway> {
  const { PORT, HOST } = process.env;
  const logFile = createWriteStream(join(stateDirectory, "gateway.log"), { flags: "a", mode: 0o600 });
  // Embedded defaults, no matter what else this shell's environment names.
  const config = parseConfig({
    PORT,
    HOST,
    AUTH_ISSUER: org.issuer,
    AUTH_JWKS_URL: `${org.issuer}/v1/keys`,
    AUTH_AUDIENCE: audience,
    OIDC_CLIENT_ID: pageClientId,
  });
  return startGateway({
    // `admin token create` goes on working next to it.
    config: { ...config, auth: { ...config.auth, acceptsDevelopmentKey: true } },
    log: createLog({ write: (line) => void logFile.write(line) }),
    directory: stateDirectory,
    webAssets: createStaticFiles(webFolder()),
    signal: interruption.signal,
    async demoSession() {
      if (current === null) throw new Error("The demo is not ready");
      const { provider, demo } = current;
      const person = { login: demo.sub, name: "Demo", password: "", tenantIds: [demo.tenant_id] };
      const accessToken = await provider.issueAccessToken(person, Date.now());
      return { access_token: accessToken, tenant_id: demo.tenant_id, tenant_name: demo.tenant_name };
    },
  });
}

/** The tenant, user and key of the first run; made again when the database no longer has them. */
async function openDemo(gateway: RunningGateway): Promise<Demo> {
  const kept = await readFile(demoFile, "utf8").then(
    (text) => JSON.parse(text) as Demo,
    () => null,
  );
  const tenants = (await gateway.admin("tenant.list", {})) as readonly { readonly id: string }[];
  if (kept !== null && tenants.some((tenant) => tenant.id === kept.tenant_id)) return kept;

  const name = "Practice Inc.";
  const sub = "demo-user";
  const tenant = (await gateway.admin("tenant.create", { name })) as { readonly id: string };
  await gateway.admin("user.create", { tenant: tenant.id, sub, role: "admin" });
  const key = (await gateway.admin("api-key.create", { tenant: tenant.id, name })) as { readonly api_key: string };
  const demo: Demo = { tenant_id: tenant.id, tenant_name: name, sub, api_key: key.api_key };
  await writeFile(demoFile, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  return demo;
}

/** One person of each role; the admin is in a second tenant as well, and reads there. */
async function offerSignIn(org: PracticeOrg, gateway: RunningGateway, demo: Demo): Promise<OpenIdProvider> {
  const secondTenantId = await findOrCreateTenant(gateway, "Second Practice Inc.");
  const home = demo.tenant_id;
  const people = [
    { login: "viola@practice.example", name: "Viola Viewer", password: "viewer", tenantIds: [home] },
    { login: "oscar@practice.example", name: "Oscar Operator", password: "operator", tenantIds: [home] },
    { login: "ada@practice.example", name: "Ada Admin", password: "admin", tenantIds: [home, secondTenantId] },
  ];
  for (const { login: sub, password: role } of people) await gateway.admin("user.create", { tenant: home, sub, role });
  await gateway.admin("user.create", { tenant: secondTenantId, sub: "ada@practice.example", role: "viewer" });
  return org.offerSignIn({
    people,
    client: {
      clientId: pageClientId,
      redirectUris: [`${gateway.url}/callback`],
      postLogoutRedirectUris: [`${gateway.url}/`],
    },
    audience,
    tenantClaim: "tenant_id",
    tokenLifetimeSeconds: sessionMinutes * 60,
  });
}

async function findOrCreateTenant(gateway: RunningGateway, name: string): Promise<string> {
  const tenants = (await gateway.admin("tenant.list", {})) as readonly { readonly id: string; readonly name: string }[];
  const found = tenants.find((tenant) => tenant.name === name);
  return (found ?? ((await gateway.admin("tenant.create", { name })) as { readonly id: string })).id;
}

async function openPracticeOrg(): Promise<PracticeOrg> {
  const keyPair = await loadKeyPair(join(stateDirectory, "practice-org"));
  const options = { profile: { name: "typical" }, role: "super", latencyMs: practiceLatencyMs, keyPair } as const;
  // The same address each time is the same org each time, with a trend over its scans.
  return createPracticeOrg({ ...options, port: practicePort }).catch(() => createPracticeOrg(options));
}

function say(line: string): void {
  streams.write(`${line}\n`);
}
