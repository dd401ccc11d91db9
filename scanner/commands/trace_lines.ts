import { vulnIdOf } from "../../shared/rule_names.ts";
import { printable } from "../../command_line/terminal.ts";
import type { ScanTrace } from "../run_scan.ts";

/** Output of `--verbose`, a line for each step; undefined without it. */
export function createTrace(
  { verbose }: { readonly verbose: boolean },
  write: (line: string) => void,
): ScanTrace | undefined {
  if (!verbose) return undefined;
  const nowMs = () => performance.now();
  // The path may hold identifiers of the provider.
  const say = (text: string) => write(printable(text));
  return {
    nowMs,
    requestEnded: ({ method, path, status, problem, ms }) =>
      say(`request ${method} ${path} ${status ?? `without an answer (${problem ?? "unknown"})`} ${duration(ms)}`),
    waitBegun: ({ reason, ms }) => say(`wait for the ${reason === "retry" ? "next attempt" : reason} ${duration(ms)}`),
    collected: (artifact, ms, outcome) =>
      say(`collected ${artifact} ${duration(ms)}${outcome === "obtained" ? "" : `, missing: ${outcome}`}`),
    evaluated: (check, ms) => say(`evaluated ${vulnIdOf(check)} ${duration(ms)}`),
  };
}

function duration(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}
