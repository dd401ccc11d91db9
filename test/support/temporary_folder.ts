import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder, removed when it is disposed of. */
export function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  return mkdtempDisposable(join(tmpdir(), "scanstream-"));
}
