import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { lockStateDirectory } from "../../command_line/state_lock.ts";
import { ownFolder } from "../support/clean_up.ts";

const program = join(import.meta.dirname, "state_lock_child.ts");
const folder = await ownFolder();

async function startContender() {
  const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  expect(await next()).toBe("ready");
  return {
    async lock() {
      child.stdin.write("go\n");
      return { outcome: await next(), contender: this };
    },
    async end() {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}

/** In each round the holder dies, and the next round begins at the file that it left. */
test("of many processes exactly one gets the lock, and its death releases it", async () => {
  const contenders = await Promise.all(Array.from({ length: 8 }, startContender));
  for (let round = 0; round < 6; round += 1) {
    const tried = await Promise.all(contenders.map((contender) => contender.lock()));
    const outcomes = tried.map(({ outcome }) => outcome).toSorted();
    expect(outcomes, `round ${round}`).toEqual([...Array(7).fill("refused"), "taken"]);
    const holder = tried.find(({ outcome }) => outcome === "taken")?.contender;
    await holder?.end();
    contenders.splice(
      contenders.findIndex((contender) => contender === holder),
      1,
      await startContender(),
    );
  }
  await Promise.all(contenders.map((contender) => contender.end()));
  const lock = await lockStateDirectory(folder);
  expect(await lockStateDirectory(folder)).toBeNull();
  await lock?.release();
  const again = await lockStateDirectory(folder);
  expect(again).not.toBeNull();
  await again?.release();
});
