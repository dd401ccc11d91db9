import type { Reporter, TestCase, TestModule } from "vitest/node";

/**
 * Closes the run with the one line that CI and people read: how many tests passed, failed and were skipped. Before it stands each
 * test that passed only when it was run again, with the error of its first run.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    const flaky: string[] = [];
    for (const testModule of testModules) {
      if (testModule.state() === "failed" && testModule.errors().length > 0) failed += 1;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped += 1;
        if (test.diagnostic()?.flaky === true) flaky.push(describeFlaky(test));
      }
    }
    // After the default reporter's own summary, so that this is the last line.
    const closing = [...flaky, `${passed} passed, ${failed} failed, ${skipped} skipped`];
    process.once("exit", () => process.stdout.write(`\n${closing.join("\n")}\n`));
  }
}

function describeFlaky(test: TestCase): string {
  const errors = (test.result().errors ?? []).map(({ stack, message }) => stack ?? message);
  return `FLAKY  ${test.module.relativeModuleId} > ${test.fullName}: passed when run again. At first:\n${errors.join("\n")}\n`;
}
