import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockStateDirectory } from "../../command_line/state_lock.ts";

/**
 * Tries to lock the folder each time that it is written to, and writes what came of it: `refused`, `taken`, or `twice` when
 * another process has it at the same time. After `taken` it dies without a word, as a gateway that is killed does.
 */
const [folder = "."] = process.argv.slice(2);
const mark = join(folder, "held");

process.stdin.on("data", () => void tryOnce());
process.stdout.write("ready\n");

async function tryOnce(): Promise<void> {
  const lock = await lockStateDirectory(folder);
  process.stdout.write(`${lock === null ? "refused" : await hold()}\n`);
}

async function hold(): Promise<string> {
  try {
    await writeFile(mark, "", { flag: "wx" });
  } catch {
    return "twice";
  }
  // Until everybody else has had an answer.
  process.stdin.once("end", () => void rm(mark, { force: true }).then(() => process.kill(process.pid, "SIGKILL")));
  return "taken";
}
