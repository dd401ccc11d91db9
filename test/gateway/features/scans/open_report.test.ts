import { gzipSync } from "node:zlib";
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

test("leaves no timer behind for each read, which would cost workerd a millisecond each", async () => {
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const timers = new Set<unknown>();
  let most = 0;
  vi.stubGlobal("setImmediate", undefined);
  vi.stubGlobal("setTimeout", (callback: () => void, ms: number) => {
    const timer = start(callback, ms);
    timers.add(timer);
    most = Math.max(most, timers.size);
    return timer;
  });
  vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => {
    timers.delete(timer);
    stop(timer);
  });
  const text = "x".repeat(1_000_000);
  const body = await openReport({ partCount: 1, sizeBytes: text.length }, async () => new Uint8Array(gzipSync(text)));
  expect(await new Response(body).text()).toBe(text);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});
