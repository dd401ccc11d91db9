import { createWriteStream, existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { parseConfig } from "../gateway/config.ts";
import { UsageError } from "../shared/usage_error.ts";
import { createLog } from "../gateway/observability/log.ts";
import { nodeHttp } from "../gateway/runtime/node_http.ts";
import { startGateway, type RunningGateway } from "../gateway/runtime/start_gateway.ts";
import { createStaticFiles, webFolder } from "../gateway/runtime/static_files.ts";
import type { CommandIo } from "./command_io.ts";
import { explainWriteError, makeDirectory } from "./files.ts";
import { createProcessIo, openStandardStreams } from "./process_io.ts";
import { createPracticeOrg, type PracticeOrg } from "../practice_org/create_practice_org.ts";
import { publishCredentials, loadKeyPair } from "../practice_org/auth/credentials.ts";
import { followCommand } from "../scanner/commands/follow_command.ts";
import { scanCommand } from "../scanner/commands/scan_command.ts";
import { configFileName } from "../scanner/settings/config_file.ts";

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
/** A real org is followed every ten seconds; here a person waits for it. */
const followSeconds = 3;
const { NO_COLOR, FORCE_COLOR, TERM } = process.env;

interface Demo {
  readonly tenant_id: string;
  readonly tenant_name: string;
  readonly sub: string;
  readonly api_key: string;
}

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
  // Wrong settings and files have a message for people; anything else is a bug and keeps its trace.
  say(error instanceof UsageError ? error.message : explainWriteError(`${stateDirectory}/`, error));
  process.exit(2);
}
await streams.flushed();
process.exit(0);

async function main(): Promise<void> {
  say(`\nscanstream ${packageJson.version}: starting a practice org, and a gateway with its database…\n`);
  await makeDirectory(stateDirectory, 0o700);
  const org = await openPracticeOrg();
  const opened = Promise.withResolvers<Demo>();
  const gateway = await openGateway(opened.promise);
  const demo = await openDemo(gateway);
  opened.resolve(demo);
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
  say(`  State        ${stateDirectory}/ (gateway.log, demo.json; delete the folder to start over)\n`);

  const io = createProcessIo(streams, {
    env: { ...env, NO_COLOR, FORCE_COLOR, TERM },
    interrupted: interruption.signal,
    mayColor: true,
  });
  // Nothing of it is on the PATH, and it takes no options: its next steps are those of this checkout.
  const own = (text: string) =>
    text
      .replaceAll(/\bscanstream (?=(?:doctor|explain|fix|report)\b)/g, "npm run -s scanstream -- ")
      .replace(/^.*: add --verbose, or .*\n/m, "");
  const terminal = { ...io.terminal, write: (text: string) => io.terminal.write(own(text)) };
  // Next steps say --no-config only where there is a file.
  const config = !existsSync(configFileName);
  const flags = { config, format: "table", failOn: "never", concurrency: String(practiceConcurrency) };
  await scanCommand(flags, { ...io, terminal });
  if (!interruption.signal.aborted) {
    say(`The scan is kept at ${gateway.url}/. To scan again yourself:\n`);
    const gatewayLines = [`SCANSTREAM_URL=${gateway.url}`, `SCANSTREAM_API_KEY=${demo.api_key}`];
    for (const line of [...credentials.environmentLines, ...gatewayLines]) say(`  export ${line}`);
    say(`  npm run -s scanstream -- scan\n\nEverything stays up until Ctrl-C. A monitor follows the practice org:\n`);
    await followPracticeOrg(org, io);
  }
  await Promise.all([gateway.stop({ drainMs: 500 }), org.stop()]);
}

/** Follows until it is interrupted. The scan before has shown the first state, so only what changes is written. */
async function followPracticeOrg(org: PracticeOrg, io: CommandIo): Promise<void> {
  // A state belongs to one org, and another port is another org.
  const state = join(stateDirectory, `follow-${org.port}`);
  const flags = { config: false, state, interval: String(followSeconds), format: "table" };
  const invitation = `Open the admin page ${org.url}/, turn MFA for the Admin Console off\nor on, and watch the result change on the live page.\n`;
  // The first results already hold a change that was made before them, and nobody could be named for it.
  if (existsSync(join(state, "state.json"))) say(invitation);
  const stdout = (text: string) => {
    if (text.includes("First results")) say(invitation);
    io.stdout(text.replaceAll(/^.*First results.*\n(?: .*\n)*/gm, ""));
  };
  await followCommand(flags, { ...io, stdout });
}

/** Starts the gateway; its page is signed in as the user of the demo. */
async function openGateway(demo: Promise<Demo>): Promise<RunningGateway> {
  const { PORT, HOST } = process.env;
  const logFile = createWriteStream(join(stateDirectory, "gateway.log"), { flags: "a", mode: 0o600 });
  // A full disk ends this log, and nothing else.
  logFile.on("error", () => {});
  // Embedded defaults, no matter what else this shell's environment names.
  const config = parseConfig({ PORT, HOST });
  const gateway: RunningGateway = await startGateway({
    http: nodeHttp,
    config,
    log: createLog({ write: (line) => void logFile.write(line) }),
    directory: stateDirectory,
    webAssets: createStaticFiles(webFolder()),
    signal: interruption.signal,
    async demoSession() {
      const { sub, tenant_id: tenant, tenant_name } = await demo;
      const token = await gateway.admin("token.create", { tenant, sub, ttl: String(sessionMinutes * 60) });
      const { access_token } = token as { readonly access_token: string };
      return { access_token, tenant_id: tenant, tenant_name };
    },
  });
  return gateway;
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

async function openPracticeOrg(): Promise<PracticeOrg> {
  const directory = join(stateDirectory, "practice-org");
  const keyPair = await loadKeyPair(directory);
  const keptFile = join(directory, "org.json");
  const options = { profile: { name: "typical" }, role: "super", latencyMs: practiceLatencyMs, keyPair } as const;
  // The same address each time is the same org each time, with a trend over its scans.
  return createPracticeOrg({ ...options, port: practicePort, keptFile }).catch(() => createPracticeOrg(options));
}

function say(line: string): void {
  streams.write(`${line}\n`);
}
