import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Feature } from "../features/features.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { settingsError } from "../config.ts";
import type { LocalState } from "../operator/local_state.ts";
import { lockEmbedded } from "../operator/lock_embedded.ts";

/** Postgres in this process, in a folder that one process at a time may have open; migrated when it is opened. */
export function embeddedDatabase(state: LocalState): DatabaseAdapter {
  return {
    embedded: state,
    async open({ features }) {
      const lock = await lockEmbedded(state);
      try {
        const database = await openEmbedded(state.databaseDirectory, features);
        return {
          ...database,
          async close() {
            await database.close();
            await lock.release();
          },
        };
      } catch (error) {
        await lock.release();
        throw error;
      }
    },
  };
}

async function openEmbedded(directory: string, features: readonly Feature[]) {
  try {
    return await openPgliteDatabase({ directory, features });
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw settingsError(
      [
        `DATABASE_URL: unset, and the embedded database in ${directory} cannot be opened: ` +
          `move that folder away to start afresh (${reason})`,
      ],
      { cause },
    );
  }
}
