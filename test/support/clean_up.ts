import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, TestRunner } from "vitest";

/** Stops what the running test started when it is finished, and what a file started for all its tests when these are over. */
export function cleanUp(stop: () => unknown): void {
  const hook = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished;
  hook(async () => void (await stop()));
}

/** The path of an empty folder, which is removed after the test or after the file. */
export async function ownFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "scanstream-"));
  cleanUp(() => rm(path, { recursive: true, force: true }));
  return path;
}
