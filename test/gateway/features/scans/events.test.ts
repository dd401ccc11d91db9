import { expect, test } from "vitest";
import { scanChannel, scanEvents } from "../../../../shared/scan_events.ts";
import { recordEvents } from "../../../../gateway/library/record_events.ts";

test("each publish function sends its event on the channel, flat", async () => {
  const channel = scanChannel("0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11", "7c9e6679-7425-40de-944b-e07fc1f90ae7");
  const scan = { scan_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7" };
  const start = { ...scan, checks_total: 29 };
  const progress = { ...scan, checks_done: 1, checks_total: 29, check: "c", status: "PASS" } as const;
  const found = { ...scan, check: "c", status: "FAIL", severity: "high", resource_name: "r" } as const;
  const finding = { ...found, detail: "d", fingerprint: "f" };
  const error = { ...scan, code: "c", detail: "d" };
  const end = { ...scan, status: "completed", pass: 1, fail: 2, manual: 3, not_applicable: 4 } as const;
  const { sendEvent, events } = recordEvents();
  const publish = scanEvents({ sendEvent });
  await publish.publishScanStart(channel, start);
  await publish.publishScanProgress(channel, progress);
  await publish.publishFindingCreated(channel, finding);
  await publish.publishScanError(channel, error);
  await publish.publishScanEnd(channel, end);
  expect(events).toEqual([
    { channel, type: "scan.start", data: start },
    { channel, type: "scan.progress", data: progress },
    { channel, type: "finding.created", data: finding },
    { channel, type: "scan.error", data: error },
    { channel, type: "scan.end", data: end },
  ]);
});
