import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { read, write, type TenantDatabase } from "../../drizzle/transactions.ts";
import type { Principal } from "../auth/principal.ts";
import { checkOptions } from "../check_options.ts";
import { requireOwnPrefixes, type Feature } from "../features/features.ts";
import { featureList } from "../gateway_entries.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { executeAdmin, type AdminOperation } from "../operator/operations.ts";
import type { ChannelsResult, EventStream } from "../streaming/event_stream_definition.ts";

/** Exports of `scanstream/gateway/testing`. */

export { recordEvents, type RecordedEvent } from "./record_events.ts";

/** Postgres in memory with the tables of the gateway and of the features, for one test file; it may be the database of a gateway too. */
export interface TestDatabase extends DatabaseAdapter {
  createTenant(name: string): Promise<TestTenant>;
  close(): Promise<void>;
}

export interface TestTenant {
  readonly id: string;
  /** With the scopes to read, to publish and to administer. */
  readonly apiKey: string;
  readonly apiKeyId: string;
  revoke(): Promise<void>;
  /** A transaction under row-level security. */
  write<Result>(work: (db: TenantDatabase) => Promise<Result>): Promise<Result>;
  /** Calls `getChannels` as a member of this tenant, in a transaction under row-level security. */
  getChannels(stream: EventStream, request: ChannelsRequestOf): Promise<ChannelsResult>;
}

export interface ChannelsRequestOf {
  /** The path's parameters; `id` of `/:id/event-stream`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** The member's id. Default `ada`. */
  readonly userId?: string;
}

export interface TestDatabaseOptions {
  readonly features: readonly Feature[];
}

export async function openTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  checkOptions("openTestDatabase", { features: featureList }, options);
  const { features } = options;
  requireOwnPrefixes(features);
  const database = await openPgliteDatabase(null, features);
  const run = (operation: AdminOperation, args: Readonly<Record<string, unknown>>) =>
    executeAdmin({ database }, operation, args) as Promise<{ readonly id: string; readonly api_key: string }>;
  return {
    // A gateway that closes leaves it to the test.
    open: () => ({ ...database, close: async () => {} }),
    embedded: { streamTokenSecret: async () => crypto.randomUUID() },
    async createTenant(name) {
      const { id: tenantId } = await run("tenant.create", { name });
      const scopes = "read,publish,admin";
      const { id: apiKeyId, api_key: apiKey } = await run("api-key.create", { tenant: tenantId, name, scopes });
      return {
        id: tenantId,
        apiKey,
        apiKeyId,
        revoke: async () => void (await run("api-key.revoke", { id: apiKeyId })),
        write: (work) => write(database, { tenantId }, work),
        getChannels(stream, { params, query = {}, userId = "ada" }) {
          const principal: Principal = { kind: "user", tenantId, id: userId, expiresAtMs: null, onlyStream: null };
          const queryAll = (parameter: string) => [query[parameter] ?? []].flat();
          return read(database, { tenantId }, async (db) =>
            stream.getChannels({ principal, params, db, query, queryAll }),
          );
        },
      };
    },
    close: () => database.close(),
  };
}
