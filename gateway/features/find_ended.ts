import { and, gte, isNull, or, sql, type Column, type SQL } from "drizzle-orm";
import type { Database } from "../../drizzle/database.ts";
import { monitors, scans } from "../../drizzle/schema.ts";
import { readOne } from "../../drizzle/transactions.ts";
import { endGraceMs } from "../streaming/authority_recheck.ts";
import { isUuid, makeChannelName, parseChannelName } from "../../shared/channel_name.ts";
import { monitorPrefix } from "./monitors/events.ts";
import { scanPrefix } from "../../shared/scan_events.ts";

/** Until then its last event may still be on its way. */
const graceBegins = sql`now() - ${endGraceMs} * interval '1 millisecond'`;

const tables = [
  { prefix: scanPrefix, table: scans },
  { prefix: monitorPrefix, table: monitors },
] as const;

/**
 * Among the channels those whose scan or monitor ended more than `endGraceMs` ago, or is not there; a channel of
 * another feature is not one of them.
 */
export async function findEnded(
  database: Database,
  tenantId: string,
  channels: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    tables.map(async ({ prefix, table }) => {
      const ids = channels.flatMap((channel) => {
        const name = parseChannelName(channel);
        const isOne = name?.prefix === prefix && name.tenantId === tenantId && isUuid(name.resourceId);
        return isOne ? [name.resourceId] : [];
      });
      if (ids.length === 0) return [];
      const present = await readOne(database, { tenantId }, (db) =>
        db
          .select({ id: table.id })
          .from(table)
          .where(and(isOneOf(table.id, ids), or(isNull(table.endedAt), gte(table.endedAt, graceBegins)))),
      );
      const presentIds = new Set(present.map(({ id }) => id));
      return ids.filter((id) => !presentIds.has(id)).map((id) => makeChannelName(prefix, tenantId, id));
    }),
  );
  return new Set(found.flat());
}

/** One parameter, however many there are: PostgreSQL takes 65,535. */
function isOneOf(column: Column, ids: readonly string[]): SQL {
  return sql`${column} = any (${sql.param(ids)}::uuid[])`;
}
