import { lockStateDirectory, type StateLock } from "../../command_line/state_lock.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { pause } from "../../shared/abortable.ts";
import { settingsError, UsageError } from "../../shared/usage_error.ts";
import { checkOptions, optionalText } from "../check_options.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { createLocalState, stateDirectory, type LocalState } from "../operator/local_state.ts";

export interface PgliteOptions {
  /** Folder of the data. Default `.scanstream`, where the command line's `admin` finds it. */
  readonly directory?: string;
}

/**
 * Postgres in this process, for development, tests and small installations; migrated when it is opened. One process at a time may have
 * its folder open.
 */
export function pglite(options: PgliteOptions = {}): DatabaseAdapter {
  checkOptions("pglite", { directory: optionalText }, options);
  const state = createLocalState(options.directory ?? stateDirectory);
  return {
    embedded: state,
    async open({ features }) {
      const lock = await lockEmbedded(state);
      try {
        const database = await openPgliteDatabase(state.databaseDirectory, features);
        return {
          ...database,
          async close() {
            await database.close();
            await lock.release();
          },
        };
      } catch (cause) {
        await lock.release();
        if (cause instanceof UsageError) throw cause;
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw settingsError(
          `DATABASE_URL: unset, and the embedded database in ${state.databaseDirectory} cannot be opened: ` +
            `make room if its disk is full; else restore a copy of that folder, or move it away to start afresh (${reason})`,
          { cause },
        );
      }
    },
  };
}

/** Another command is done by then. */
const maxWaitMs = 10_000;

/** The embedded database is this process's own until it is released. Rejects with `UsageError` where a gateway has it. */
async function lockEmbedded(state: LocalState): Promise<StateLock> {
  await state.makeDirectory();
  const deadlineMs = Date.now() + maxWaitMs;
  for (;;) {
    const lock = await lockStateDirectory(state.directory);
    if (lock !== null) return lock;
    if (Date.now() > deadlineMs) {
      throw settingsError(
        `DATABASE_URL: unset, and the embedded database in ${state.directory} is open in a gateway: ` +
          "stop it, use another folder, or name a Postgres database",
      );
    }
    await pause(100, []);
  }
}
