import { afterEach, expect, test, vi } from "vitest";
import { openReport } from "../../../../gateway/features/scans/report/open_report.ts";

afterEach(() => vi.unstubAllGlobals());

test("what is not read is not inflated, also where nothing holds the inflating back", async () => {
  let inflatedBytes = 0;
  // As in workerd, where a write never waits for a reader.
  vi.stubGlobal("DecompressionStream", function () {
    return new TransformStream<Uint8Array, Uint8Array>(
      {
        transform(chunk, controller) {
          inflatedBytes += chunk.length * 1000;
          controller.enqueue(new Uint8Array(chunk.length * 1000));
        },
      },
      undefined,
      { highWaterMark: Infinity },
    );
  });
  const parts = [new Uint8Array(40_000), new Uint8Array(10_000)];
  const report = { partCount: 2, sizeBytes: 50_000_000 };
  const body = await openReport(
    report,
    async (part) => parts[part] ?? Promise.reject(new Error("There is no such part")),
  );
  const reader = body.getReader();
  let readBytes = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    readBytes += read.value.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(inflatedBytes - readBytes).toBeLessThan(10_000_000);
  }
  expect(readBytes).toBe(50_000_000);
});
