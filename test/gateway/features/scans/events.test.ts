import { expect, test } from "vitest";
import {
  publishFindingCreated,
  publishScanEnd,
  publishScanError,
  publishScanProgress,
  publishScanStart,
  scanChannel,
} from "../../../../gateway/features/scans/events.ts";
import type { Publisher } from "../../../../shared/broker.ts";
import { parseMessage } from "../../../../shared/event.ts";

const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const channel = scanChannel(tenantId, scanId);

test("the channel is built with the scan's own tenant", () => {
  expect(channel).toBe(`scan:${tenantId}:${scanId}`);
});

const cases: readonly (readonly [type: string, payload: object, publish: (to: Publisher) => Promise<void>])[] = [
  [
    "scan.start",
    { scan_id: scanId, checks_total: 29 },
    (to) => publishScanStart(to, channel, { scan_id: scanId, checks_total: 29 }),
  ],
  [
    "scan.progress",
    { scan_id: scanId, checks_done: 1, checks_total: 29, check: "c", status: "PASS" },
    (to) =>
      publishScanProgress(to, channel, {
        scan_id: scanId,
        checks_done: 1,
        checks_total: 29,
        check: "c",
        status: "PASS",
      }),
  ],
  [
    "finding.created",
    {
      scan_id: scanId,
      check: "c",
      status: "FAIL",
      severity: "high",
      resource_name: "r",
      detail: "d",
      fingerprint: "f",
    },
    (to) =>
      publishFindingCreated(to, channel, {
        scan_id: scanId,
        check: "c",
        status: "FAIL",
        severity: "high",
        resource_name: "r",
        detail: "d",
        fingerprint: "f",
      }),
  ],
  [
    "scan.error",
    { scan_id: scanId, code: "c", detail: "d" },
    (to) => publishScanError(to, channel, { scan_id: scanId, code: "c", detail: "d" }),
  ],
  [
    "scan.end",
    { scan_id: scanId, status: "completed", pass: 1, fail: 2, manual: 3, not_applicable: 4 },
    (to) =>
      publishScanEnd(to, channel, {
        scan_id: scanId,
        status: "completed",
        pass: 1,
        fail: 2,
        manual: 3,
        not_applicable: 4,
      }),
  ],
];

test.each(cases)("%s is published with a flat payload on the scan's channel", async (type, payload, publish) => {
  const published: (readonly [string, string])[] = [];
  await publish({ publish: async (to, message) => void published.push([to, message]) });
  expect(published).toHaveLength(1);
  const [[to, message] = ["", ""]] = published;
  expect(to).toBe(channel);
  expect(parseMessage(message)).toEqual({ type, data: JSON.stringify(payload) });
});
