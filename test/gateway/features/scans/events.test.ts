import { expect, test } from "vitest";
import * as events from "../../../../gateway/features/scans/events.ts";
import { createMemoryBroker } from "../../../../shared/brokers/memory.ts";
import { parseMessage } from "../../../../shared/event.ts";

test("each publish function sends its event on the channel, flat", async () => {
  const channel = events.scanChannel("0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11", "7c9e6679-7425-40de-944b-e07fc1f90ae7");
  const scan = { scan_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7" };
  const found = { ...scan, check: "c", status: "FAIL", severity: "high", resource_name: "r", detail: "d" } as const;
  const counts = { pass: 1, fail: 2, manual: 3, not_applicable: 4 };
  const broker = createMemoryBroker();
  const sent: unknown[] = [];
  const onMessage = (message: string) => void sent.push(parseMessage(message)?.type);
  await broker.subscribe(channel, { onMessage, onLost() {} }, new AbortController().signal);
  await events.publishScanStart(broker, channel, { ...scan, checks_total: 29 });
  const progress = { ...scan, checks_done: 1, checks_total: 29, check: "c", status: "PASS" } as const;
  await events.publishScanProgress(broker, channel, progress);
  await events.publishFindingCreated(broker, channel, { ...found, fingerprint: "f" });
  await events.publishScanError(broker, channel, { ...scan, code: "c", detail: "d" });
  await events.publishScanEnd(broker, channel, { ...scan, status: "completed", ...counts });
  expect(sent).toEqual(["scan.start", "scan.progress", "finding.created", "scan.error", "scan.end"]);
});
