import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { UsageError } from "../../shared/usage_error.ts";
import type { Feature } from "../features/features.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { settingsError } from "../config.ts";
import { createLocalState, stateDirectory, type LocalState } from "../operator/local_state.ts";
import { lockEmbedded } from "../operator/lock_embedded.ts";

export interface PgliteOptions {
  /** Folder of the data. Default `.scanstream`, where the command line's `admin` finds it. */
  readonly directory?: string;
}

/** Postgres in this process, for development, tests and small installations. One process at a time may have its folder open. */
export function pglite({ directory = stateDirectory }: PgliteOptions = {}): DatabaseAdapter {
  return embedded(createLocalState(directory));
}

export function embedded(state: LocalState): DatabaseAdapter {
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
