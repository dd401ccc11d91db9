import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "../shared/error_code.ts";

/** Compiles `<name>.c` of this folder; null where there is no C compiler. */
export async function compileProgram(name: string): Promise<string | null> {
  const binary = join(await mkdtemp(join(tmpdir(), "scanstream-bench-")), name);
  const source = join(import.meta.dirname, `${name}.c`);
  for (const compiler of ["gcc", "cc", "clang"]) {
    try {
      await promisify(execFile)(compiler, ["-O2", "-o", binary, source]);
      return binary;
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
  return null;
}
