import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AppError } from "../../shared/app_error.ts";
import type { Database, DatabaseOptions } from "../../drizzle/database.ts";
import { findings, runs } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { ping, write } from "../../drizzle/transactions.ts";
import { unavailability } from "../broker_contract/broker_harness.ts";
import { asAdmin, createTestDatabase, patient, type TestDatabase } from "../support/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp_proxy.ts";
import { randomHash, type SeededTenant, seedTenant } from "./seed.ts";

/** A driver whose connections pass a proxy that can break them. */
export interface BreakableDriver {
  readonly connect: (url: string, options: DatabaseOptions) => Database;
  /** Starts the server behind the breakable proxy, given the port of PostgreSQL; absent: PostgreSQL itself. */
  readonly startFront?: (postgresPort: number) => Promise<Front>;
}

export interface Front {
  readonly port: number;
  close(): Promise<void>;
}

const timeouts = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
const wellAgainMs = 60_000;

/** Whatever is wrong with the database: `unavailable`, never a hang, never rows; and well again afterwards. */
export function describeOutages(driver: string, { connect, startFront }: BreakableDriver): void {
  describe(`outages over ${driver}`, () => {
    let testDatabase: TestDatabase;
    let front: Front | null = null;
    let proxy: TcpProxy;
    let acme: SeededTenant;

    beforeAll(async () => {
      testDatabase = await createTestDatabase();
      const postgresPort = Number(new URL(testDatabase.adminUrl).port);
      front = (await startFront?.(postgresPort)) ?? null;
      proxy = await startTcpProxy({ host: "127.0.0.1", port: front?.port ?? postgresPort });
      const database = connect(proxiedUrl().href, {});
      acme = await seedTenant(database);
      await database.close();
    });
    afterAll(async () => {
      await proxy?.close();
      await front?.close();
      await testDatabase?.drop();
    });

    function proxiedUrl(): URL {
      const url = new URL(testDatabase.ownerUrl);
      url.port = String(proxy.port);
      return url;
    }

    function open(options: DatabaseOptions = {}, change: (url: URL) => void = () => {}): Database {
      const url = proxiedUrl();
      change(url);
      const database = connect(url.href, { ...timeouts, ...options });
      onTestFinished(() => database.close());
      return database;
    }

    async function alter(change: string): Promise<void> {
      const { adminUrl, name } = testDatabase;
      await asAdmin(adminUrl, (admin) => admin.query(`alter database ${name} ${change}`));
    }

    async function expectWell(database: Database): Promise<void> {
      const rows = await write(database, { tenantId: acme.id }, (db) => db.select().from(findings));
      expect(rows).toHaveLength(acme.scanIds.length);
    }

    test("a server that refuses connections, and is there again later", async () => {
      const database = open();
      proxy.refuse();
      await unavailability(ping(database), []);
      await unavailability(findApiKey(database, randomHash()), []);
      proxy.restore();
      await expectWellSoon(() => expectWell(database));
    });

    test("a connection that is cut while a statement runs, and while none does", async () => {
      const database = open(patient);
      await expectWell(database);
      const sleeping = write(database, { tenantId: acme.id }, (db) => db.execute(sql`select pg_sleep(15)`));
      const running = unavailability(sleeping, []);
      await untilRunning(testDatabase, "pg_sleep(15)");
      proxy.cut();
      await running;
      await expectWell(database);
      proxy.cut();
      await expect.poll(() => proxy.openCount()).toBe(0);
      await expectWellSoon(() => expectWell(database));
    });

    test("a database that only reads is unavailable; its date style and isolation change nothing", async () => {
      await alter("set default_transaction_read_only = on");
      await unavailability(ping(open(patient)), []);
      await alter("reset default_transaction_read_only");
      await alter("set datestyle = 'SQL, DMY'");
      await alter("set default_transaction_isolation = serializable");
      const [[run], { rows }] = await write(open(patient), { tenantId: acme.id }, async (db) => [
        await db.select().from(runs),
        await db.execute(sql`show transaction_isolation`),
      ]);
      await alter("reset all");
      expect(run?.createdAt.getTime()).toBeGreaterThan(0);
      expect(rows).toEqual([{ transaction_isolation: "read committed" }]);
    });

    test("a wrong password, an unknown database, and no connection left: unavailable, without a secret", async () => {
      const wrongPassword = open({}, (url) => (url.password = "hunter2"));
      const wrongDatabase = open({}, (url) => (url.pathname = "/hunter3"));
      const secrets = ["hunter2", new URL(testDatabase.ownerUrl).password];
      await unavailability(ping(wrongPassword), secrets);
      await unavailability(ping(wrongDatabase), secrets);
      await alter("connection limit 0");
      const { adminUrl, name } = testDatabase;
      const end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
      await asAdmin(adminUrl, (admin) => admin.query(end, [name]));
      const full = open();
      await unavailability(ping(full), secrets);
      await alter("connection limit -1");
      await expectWellSoon(() => expectWell(full));
    });
  });
}

/** A connection that broke unnoticed costs one more refusal, and a busy machine connects late. */
async function expectWellSoon(work: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + wellAgainMs;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof AppError) || performance.now() > deadlineMs) throw error;
    }
  }
}

async function untilRunning({ adminUrl, name }: TestDatabase, statement: string): Promise<void> {
  const running =
    "select from pg_stat_activity where datname = $1 and state = 'active' and query like '%' || $2 || '%'";
  await asAdmin(adminUrl, async (admin) => {
    while ((await admin.query(running, [name, statement])).rowCount === 0);
  });
}
