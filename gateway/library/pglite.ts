import { checkOptions, optionalText } from "../check_options.ts";
import type { DatabaseAdapter } from "../gateway_options.ts";
import { createLocalState, stateDirectory } from "../operator/local_state.ts";
import { embeddedDatabase } from "../operator/embedded_database.ts";

export interface PgliteOptions {
  /** Folder of the data. Default `.scanstream`, where the command line's `admin` finds it. */
  readonly directory?: string;
}

/** Postgres in this process, for development, tests and small installations. One process at a time may have its folder open. */
export function pglite(options: PgliteOptions = {}): DatabaseAdapter {
  checkOptions("pglite", { directory: optionalText }, options);
  return embeddedDatabase(createLocalState(options.directory ?? stateDirectory));
}
