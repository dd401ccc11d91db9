import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { runAdmin } from "../../../gateway/operator/call_admin.ts";
import type { AdminArguments, AdminOperation } from "../../../gateway/operator/operations.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { Interruption } from "../../../gateway/runtime/interruption.ts";
import type { GatewayIo } from "../../../command_line/command_io.ts";
import { nodeHttp } from "../../../gateway/runtime/node_http.ts";
import { serve } from "../../../gateway/runtime/serve.ts";
import { migrateCommand, requireMigrated } from "../../../gateway/operator/migrate.ts";
import { placeEmbeddedDatabase } from "../../support/pglite.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { startRedis } from "../../support/redis.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

const serveOnNode = (io: GatewayIo) => serve(io, nodeHttp);

const secret = { STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef" };
const bare = await createTestDatabase("empty");
// `serve` keeps its state in the working directory.
const folder = await temporaryFolder();
const previousFolder = process.cwd();
// Migrated, and without any tenant: `npm start` makes its own (`e2e/start.test.ts`).
await placeEmbeddedDatabase(folder.path);
beforeAll(() => process.chdir(folder.path));
afterAll(async () => {
  process.chdir(previousFolder);
  await folder[Symbol.asyncDispose]();
  await bare.drop();
});

function createIo(env: Readonly<Record<string, string>>) {
  const interruption = new Interruption();
  const written = { stdout: "", terminal: "" };
  const listening = Promise.withResolvers<string>();
  const io = {
    env,
    stdout(text: string) {
      written.stdout += text;
      const url = /http:\/\/\S+/.exec(written.stdout)?.[0];
      if (url !== undefined) listening.resolve(url);
    },
    terminal: { write: (text: string) => void (written.terminal += text) },
    interrupted: interruption.interrupted,
    skipDelay: interruption.skipDelay,
  };
  return { io, written, listening: listening.promise, interrupt: () => void interruption.receive("SIGINT") };
}

test("serve prints its address, at the first start of an embedded database a key, and exits with 0 when interrupted", async () => {
  const { io, written, listening, interrupt } = createIo({ PORT: "0" });
  const served = serveOnNode(io);
  const url = await listening;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await expect
    .poll(() => written.stdout)
    .toMatch(/^The gateway listens on \S+\nThe first API key, shown this once: \S+\n$/);
  const [key = ""] = /scs_\S+/.exec(written.stdout) ?? [];
  const headers = { authorization: `Api-Key ${key}` };
  expect((await fetch(`${url}/api/v1/api-keys`, { headers })).status).toBe(200);
  interrupt();
  await expect(served).resolves.toBe(0);
  expect(written.terminal).not.toContain("scs_");
  const messages = written.terminal
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).toEqual(["listening", "request", "draining", "stopped"]);
  const again = createIo({ PORT: "0" });
  const servedAgain = serveOnNode(again.io);
  await expect.poll(() => again.written.terminal).toContain('"listening"');
  again.interrupt();
  await expect(servedAgain).resolves.toBe(0);
  expect(again.written.stdout).not.toContain("scs_");
});

test("EVENTSTREAM_CACHE_DB wins over REDIS_URL; a start is refused what Redis refuses", async () => {
  const redis = await startRedis();
  await redis.command("ACL", "SETUSER", "deaf", "on", ">pass", "allchannels", "+@all", "-subscribe");
  const env = { ...secret, PORT: "0", REDIS_URL: `redis://127.0.0.1:${redis.port}/5` };
  const wrong = [
    [{ EVENTSTREAM_CACHE_DB: "16" }, "no such database (EVENTSTREAM_CACHE_DB)"],
    [{ REDIS_URL: `redis://nobody:wrong@127.0.0.1:${redis.port}` }, "refused the user or password (REDIS_URL)"],
    [{ REDIS_URL: `redis://deaf:pass@127.0.0.1:${redis.port}` }, "does not allow this user the command or channel"],
  ] as const;
  for (const [variables, problem] of wrong) {
    const refused = serveOnNode(createIo({ ...env, ...variables }).io);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(problem);
  }
  const { io, written, listening, interrupt } = createIo(env);
  const served = serveOnNode(io);
  await listening;
  await expect.poll(() => written.terminal).toContain("database 2 (EVENTSTREAM_CACHE_DB) is used, not 5 of REDIS_URL");
  interrupt();
  await expect(served).resolves.toBe(0);
  await redis.stop();
});

describe("a real database", () => {
  test("a database without tables names `migrate`, and serves after it, also as the application's role", async () => {
    const refused = serveOnNode(createIo({ PORT: "0", DATABASE_URL: bare.ownerUrl, ...secret }).io);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(/DATABASE_URL: .*run `scanstream migrate`/);
    await expect(runAdmin({ DATABASE_URL: bare.ownerUrl }, "tenant.list", {})).rejects.toThrow(/scanstream migrate/);

    await expect(migrateCommand(createIo({}).io)).rejects.toThrow(/DATABASE_URL: required/);
    const asApp = migrateCommand(createIo({ DATABASE_URL: bare.appUrl }).io);
    await expect(asApp).rejects.toThrow(/^Cannot migrate as the role of DATABASE_URL, which should own the database/);
    expect(await migrateCommand(createIo({ DATABASE_URL: bare.ownerUrl }).io)).toBe(0);
    expect(await migrateCommand(createIo({ DATABASE_URL: bare.ownerUrl }).io)).toBe(0);

    const owner = { DATABASE_URL: bare.ownerUrl };
    const admin = async (...call: readonly [AdminOperation, AdminArguments]) =>
      (await runAdmin(owner, ...call)) as Readonly<Record<string, string>>;
    const { id: tenant } = await admin("tenant.create", { name: "Acme" });
    const { api_key: key } = await admin("api-key.create", { tenant, name: "ci" });
    await admin("user.create", { tenant, sub: "alice" });
    const { access_token: token } = await admin("token.create", { tenant, sub: "alice" });
    const { access_token: stranger } = await admin("token.create", { tenant, sub: "bob" });
    await expect(runAdmin({ DATABASE_URL: bare.appUrl }, "tenant.list", {})).rejects.toMatchObject({
      code: "permission_denied",
    });

    for (const [part, wrong, said] of [
      ["password", "hunter2", /DATABASE_URL: the server refuses this user or password$/],
      ["pathname", "nowhere", /DATABASE_URL: the server has no database of this name$/],
      ["port", "1", /DATABASE_URL: the database cannot be reached: (?!.*hunter2)/],
    ] as const) {
      const url = new URL(bare.ownerUrl);
      url[part] = wrong;
      await expect(migrateCommand(createIo({ DATABASE_URL: url.href }).io)).rejects.toThrow(said);
    }
    const standby = `${bare.ownerUrl}?options=-c%20default_transaction_read_only%3Don`;
    const created = runAdmin({ DATABASE_URL: standby }, "tenant.create", { name: "Globex" });
    await expect(created).rejects.toThrow(/DATABASE_URL: the database does not serve: .* read-only transaction/);

    const superuserUrl = new URL(new URL(bare.ownerUrl).pathname, bare.adminUrl).href;
    for (const url of [bare.ownerUrl, bare.appUrl, superuserUrl]) {
      const { io, written, listening, interrupt } = createIo({ PORT: "0", DATABASE_URL: url, ...secret });
      const served = serveOnNode(io);
      const status = async (authorization: string) =>
        (await fetch(`${await listening}/api/v1/scans`, { headers: { authorization } })).status;
      expect(await status(`Api-Key ${key}`)).toBe(200);
      expect(written.terminal).toMatch(/"level":"warn".*METRICS_PORT/);
      expect(await status(`Bearer ${token}`)).toBe(200);
      expect(await status(`Bearer ${stranger}`)).toBe(403);
      interrupt();
      await expect(served).resolves.toBe(0);
      expect(written.terminal.includes("no row-level security binds")).toBe(url === superuserUrl);
    }
  });

  test("a database that is unavailable is retried for a while, then named", async () => {
    const database = createPgDatabase("postgres://u:hunter2@127.0.0.1:1/d");
    const refused = requireMigrated(database, { timeoutMs: 1200 });
    await expect(refused).rejects.toThrow(/DATABASE_URL: the database cannot be reached/);
    await expect(refused).rejects.not.toThrow(/hunter2/);
    const interrupted = requireMigrated(database, { timeoutMs: 60_000, signal: AbortSignal.abort(new Error("stop")) });
    await expect(interrupted).rejects.toThrow("stop");
    await database.close();
  });
});
