import { afterAll, onTestFinished, TestRunner } from "vitest";
import { temporaryFolder } from "./temporary_folder.ts";

/** Stops what the running test started when it is finished, and what a file started for all its tests when these are over. */
export function cleanUp(stop: () => unknown): void {
  const hook = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished;
  hook(async () => void (await stop()));
}

/** The path of an empty folder, which is removed after the test or after the file. */
export async function ownFolder(): Promise<string> {
  const folder = await temporaryFolder();
  cleanUp(() => folder[Symbol.asyncDispose]());
  return folder.path;
}
