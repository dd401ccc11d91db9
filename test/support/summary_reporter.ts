import type { Reporter, TestModule } from "vitest/node";

/** Closes the run with the one line that CI and people read: how many tests passed, failed and were skipped. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap(({ children }) => [...children.allTests()].map((test) => test.result().state));
    const count = (...wanted: readonly string[]) => states.filter((state) => wanted.includes(state)).length;
    const broken = modules.filter((module) => module.state() === "failed" && module.errors().length > 0).length;
    const closing = `${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped", "pending")} skipped`;
    // After the default reporter's own summary, so that this is the last line.
    process.once("exit", () => process.stdout.write(`\n${closing}\n`));
  }
}
