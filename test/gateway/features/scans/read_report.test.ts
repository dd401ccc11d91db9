import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { readReport } from "../../../../gateway/features/scans/report/read_report.ts";
import { aCheckResult, aFinding, aReport } from "../../../support/report_builders.ts";

const kibibyte = 1024;

test("a body that is all there at once leaves others their turns of the event loop", async () => {
  // workerd compresses at once; Node's own stream waits for a thread.
  vi.stubGlobal("CompressionStream", function () {
    return new TransformStream();
  });
  const id = randomUUID();
  const report = aReport([aCheckResult({ findings: Array.from({ length: 2000 }, () => aFinding()) })]);
  const bytes = new TextEncoder().encode(JSON.stringify({ ...report, scan: { ...report.scan, id } }));
  let taken = 0;
  const body = new ReadableStream({
    pull(controller) {
      const chunk = bytes.slice(taken, taken + 16 * kibibyte);
      taken += chunk.length;
      if (chunk.length === 0) controller.close();
      else controller.enqueue(chunk);
    },
  });
  let most = 0;
  let before = 0;
  const others = setInterval(() => {
    most = Math.max(most, taken - before);
    before = taken;
  }, 0);
  const upload = {
    method: "PUT",
    headers: { "content-type": "application/json", "content-length": String(bytes.length) },
    body,
    duplex: "half",
  };
  const { sizeBytes } = await readReport(new Request("https://gateway.test/", upload), id);
  clearInterval(others);
  vi.unstubAllGlobals();
  expect(sizeBytes).toBe(bytes.length);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(128 * kibibyte);
});
