import { expect, test } from "vitest";
import { encodeChunk } from "../../../../gateway/streaming/encoded_chunk.ts";
import { createReadableStreamSinks } from "../../../../gateway/streaming/sinks/readable_stream_sink.ts";
import type { StreamRequest } from "../../../../gateway/streaming/stream_request.ts";
import { describeSink } from "./sink_suite.ts";

describeSink("ReadableStream sink", createReadableStreamSinks());

function createRequest(signal: AbortSignal): StreamRequest {
  return {
    request: new Request("http://gateway.test/", { signal }),
    principal: { kind: "user", tenantId: "", id: "", expiresAtMs: null, onlyStream: null },
    name: "/stream",
    channels: [],
  };
}

function openSink(signal: AbortSignal = new AbortController().signal) {
  let closedCount = 0;
  const sink = createReadableStreamSinks({ headers: { "content-encoding": "identity" } })(createRequest(signal), {
    onClosed: () => void (closedCount += 1),
  });
  return { sink, closedCount: () => closedCount };
}

test("ReadableStream sink has its first bytes ready before the first read", async () => {
  const { sink } = openSink();
  const response = sink.open(encodeChunk(": first\n\n"));
  expect(sink.bufferedBytes()).toBe(9);
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toBe(": first\n\n");
  expect(sink.bufferedBytes()).toBe(0);
});

test("S6: ReadableStream sink retains little more than the buffered bytes, not the slab that they were encoded in", async () => {
  const { sink } = openSink();
  const reader = sink.open(encodeChunk(": first\n\n")).body?.getReader();
  sink.write(encodeChunk("data: 1\n\n"));
  await reader?.read();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toBe("data: 1\n\n");
  expect(value?.buffer.byteLength).toBeLessThan(40);
});

test("ReadableStream sink closes at once when the request was aborted already", () => {
  const { closedCount } = openSink(AbortSignal.abort());
  expect(closedCount()).toBe(1);
});

test("ReadableStream sink closes when the request aborts, and ends its body", async () => {
  const controller = new AbortController();
  const { sink, closedCount } = openSink(controller.signal);
  const reader = sink.open(encodeChunk(": first\n\n")).body?.getReader();
  await reader?.read();
  controller.abort();
  expect(closedCount()).toBeGreaterThan(0);
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});

test("ReadableStream sink closes when its reader cancels, and ignores a later abort", async () => {
  const controller = new AbortController();
  const { sink, closedCount } = openSink(controller.signal);
  await sink.open(encodeChunk(": first\n\n")).body?.cancel();
  expect(closedCount()).toBe(1);
  controller.abort();
  expect(closedCount()).toBe(1);
  expect(sink.write(encodeChunk(": late\n\n"))).toBe(0);
});

test("ReadableStream sink closes at its end, or when its buffer was read", async () => {
  const idle = openSink();
  const reader = idle.sink.open(encodeChunk(": first\n\n")).body?.getReader();
  await reader?.read();
  const last = reader?.read();
  idle.sink.end(encodeChunk(": close ended\n\n"));
  expect(idle.closedCount()).toBe(1);
  expect(new TextDecoder().decode((await last)?.value)).toBe(": close ended\n\n");
  expect(await reader?.read()).toEqual({ done: true, value: undefined });

  const behind = openSink();
  const body = behind.sink.open(encodeChunk(": first\n\n")).body;
  behind.sink.end(encodeChunk(": close ended\n\n"));
  expect(behind.closedCount()).toBe(0);
  expect(await new Response(body).text()).toBe(": first\n\n: close ended\n\n");
  behind.sink.finishIfDrained();
  expect(behind.closedCount()).toBe(1);
});
