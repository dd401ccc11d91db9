import type { Reporter, TestModule } from "vitest/node";

/** Closes the run with the one line that CI and people read: how many tests passed, failed and were skipped. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const testModule of testModules) {
      if (testModule.state() === "failed" && testModule.errors().length > 0) failed += 1;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped += 1;
      }
    }
    // After the default reporter's own summary, so that this is the last line.
    const closing = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    process.once("exit", () => process.stdout.write(`\n${closing}\n`));
  }
}
