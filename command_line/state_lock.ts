import { join } from "node:path";

/** Lock on the state of a folder, the embedded database or a follower's: one process at a time may have it open. */
export interface StateLock {
  release(): Promise<void>;
}

/** SQLite's text for a database that another connection has locked; Deno gives no code with it. */
const busyText = "database is locked";

/**
 * Null when another live process has the directory, which must exist. The lock is SQLite's on an empty database in it, so the system
 * itself releases it with the process that has it, however that ends. Throws where the file system knows no locks.
 */
export async function lockStateDirectory(directory: string): Promise<StateLock | null> {
  const { DatabaseSync } = await (sqlite ??= importQuietly());
  const database = new DatabaseSync(join(directory, "lock.db"));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return { release: async () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message === busyText) return null;
    throw error;
  }
}

let sqlite: ReturnType<typeof importQuietly> | null = null;

/** Imports SQLite without Node's warning that its interface may change, which is not for whoever runs a command. */
async function importQuietly() {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
