import { lockStateDirectory, type StateLock } from "../../command_line/state_lock.ts";
import { pause } from "../../shared/abortable.ts";
import { settingsError } from "../config.ts";
import type { LocalState } from "./local_state.ts";

/** Another command is done by then. */
const maxWaitMs = 10_000;

/** The embedded database is this process's own until it is released. Rejects with `UsageError` where a gateway has it. */
export async function lockEmbedded(state: LocalState): Promise<StateLock> {
  await state.makeDirectory();
  const deadlineMs = Date.now() + maxWaitMs;
  for (;;) {
    const lock = await lockStateDirectory(state.directory);
    if (lock !== null) return lock;
    if (Date.now() > deadlineMs) {
      throw settingsError([
        `DATABASE_URL: unset, and the embedded database in ${state.directory} is open in a gateway: ` +
          "stop it, use another folder, or name a Postgres database",
      ]);
    }
    await pause(100, []);
  }
}
