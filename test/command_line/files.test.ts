import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const module = pathToFileURL(join(import.meta.dirname, "../../command_line/files.ts")).href;

// In a process of its own, which a limit ends: what never settles also keeps its core busy.
test("makeDirectory settles where nothing can be made", { skip: process.platform !== "linux" }, async () => {
  const script = `
    import { makeDirectory } from ${JSON.stringify(module)};
    await makeDirectory("/proc/none/of/it").catch(({ code }) => console.log(code));`;
  const { stdout } = await run(process.execPath, ["--no-warnings", "--input-type=module", "--eval", script], {
    timeout: 60_000,
  });
  expect(stdout).toBe("ENOENT\n");
});
