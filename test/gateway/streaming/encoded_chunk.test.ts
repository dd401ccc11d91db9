import { array, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../support/any_text.ts";
import { encodeChunk } from "../../../gateway/streaming/encoded_chunk.ts";
import { fuzzed } from "../../fuzz/fuzzed.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

test("chunks that share a slab do not overlap, whatever their lengths", () => {
  const texts = array(anyText({ minLength: 1, maxLength: 1500 }), { minLength: 1, maxLength: 60 });
  assert(
    property(texts, (all) => {
      const chunks = all.map((text) => encodeChunk(text));
      expect(chunks.map((chunk) => decoder.decode(chunk.bytes))).toEqual(all);
      for (const [index, chunk] of chunks.entries()) {
        expect(decoder.decode(chunk.detachedCopy.chunked)).toBe(
          `${chunk.byteLength.toString(16)}\r\n${all[index] ?? ""}\r\n`,
        );
      }
    }),
    fuzzed(100),
  );
});

test("S6: a buffered chunk retains little more than its own bytes", () => {
  for (const length of [1, 150, 1024, 1025, 65_536]) {
    const { detachedCopy } = encodeChunk("x".repeat(length));
    expect(detachedCopy.bytes.buffer.byteLength).toBeLessThanOrEqual(length + 22);
    expect(detachedCopy.detachedCopy).toBe(detachedCopy);
  }
});
