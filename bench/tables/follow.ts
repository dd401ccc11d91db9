import type { PageFigures, RestFigures } from "../follow.ts";
import type { LatencyFigures } from "../follow_latency.ts";
import { figureTable, loadText, machineText, readResult } from "./results.ts";

export async function followSection(): Promise<string> {
  const pages = await readResult<PageFigures>("follow_pages");
  const rest = await readResult<RestFigures>("follow_rest");
  const { polled, rung } = pages.figures;
  const { idle, large } = rest.figures;
  const row = (name: string, { changes, missing, medianSeconds, p99Seconds, maxSeconds }: LatencyFigures) =>
    `| ${name} | ${changes} | ${[medianSeconds, p99Seconds, maxSeconds].map((value) => `${value.toFixed(2)} s`).join(" | ")} | ${missing} |`;
  const requests = polled.requests + rung.requests;
  const fewest = polled.fewestRequests + rung.fewestRequests;
  return [
    `${machineText(pages)}; ${loadText(pages.figures.loads)}.`,
    [
      "| change → page | changes | median | p99 | most | missing |",
      "|---|---|---|---|---|---|",
      row("10 s poll", polled),
      row("with the doorbell", rung),
    ].join("\n"),
    figureTable([
      [
        "requests for those changes ÷ the fewest possible",
        `${requests} ÷ ${fewest} = ${(requests / fewest).toFixed(2)}`,
      ],
      [
        `at rest for ${idle.seconds / idle.intervalSeconds} intervals, here of ${idle.intervalSeconds} s`,
        `${idle.logPolls} polls, ${idle.otherRequests} other requests, ${idle.tokenRequests} for a token`,
      ],
      [
        `a follower of ${large.apps.toLocaleString("en-US")} apps, ${large.changes} changes, ${large.fullScans} full scans`,
        `${large.peakMiB.toFixed(0)} MiB at its peak`,
      ],
    ]),
  ].join("\n\n");
}
