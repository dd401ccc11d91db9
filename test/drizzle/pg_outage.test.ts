import { expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { ping } from "../../drizzle/transactions.ts";
import { runSql } from "../support/watched_database.ts";
import { describeOutages } from "./outage_suite.ts";
import { openOnPostgres } from "./open_databases.ts";

describeOutages("pg", { connect: createPgDatabase });

test("refuses a statement that waits too long for a connection, and serves the next one", async () => {
  const opened = await openOnPostgres((url) => createPgDatabase(url, { maxConnections: 1, connectTimeoutMs: 300 }));
  const { database } = opened;
  await ping(database);
  const sleeping = runSql(database, "select pg_sleep(1.5)");
  await expect(ping(database)).rejects.toMatchObject({ code: "unavailable" });
  await sleeping;
  await ping(database);
  await opened.close();
});
