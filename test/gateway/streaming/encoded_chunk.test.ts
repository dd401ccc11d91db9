import { array, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../support/any_text.ts";
import { encodeChunk } from "../../../gateway/streaming/encoded_chunk.ts";
import { fuzzed } from "../../fuzz/fuzzed.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function expectChunk(text: string): void {
  const chunk = encodeChunk(text);
  const { byteLength } = new TextEncoder().encode(text);
  for (const same of [chunk, chunk.detachedCopy, chunk.detachedCopy.detachedCopy]) {
    expect(same.byteLength).toBe(byteLength);
    expect(decoder.decode(same.bytes)).toBe(text);
    expect(decoder.decode(same.chunked)).toBe(`${byteLength.toString(16)}\r\n${text}\r\n`);
  }
}

test("encodeChunk gives the text's bytes, and the same as one chunk of the chunked coding", () => {
  for (const length of [1, 9, 15, 16, 17, 255, 256, 1023, 1024, 1025, 4095, 4096, 65_535, 65_536]) {
    for (const character of ["x", "ä", "€", "\u{1f642}"]) expectChunk(character.repeat(length));
  }
  expectChunk(`${"x".repeat(1024)}\ufeff`);
  expectChunk("\ufeff");
});

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

test("encodeChunk rejects empty text, which would end the response", () => {
  expect(() => encodeChunk("")).toThrow(RangeError);
});
