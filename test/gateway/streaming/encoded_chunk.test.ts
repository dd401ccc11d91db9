import { assert, property } from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../support/any_text.ts";
import { encodeChunk } from "../../../gateway/streaming/encoded_chunk.ts";
import { fuzzed } from "../../fuzz/fuzzed.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

test("a chunk has the text's bytes, as they are and in the chunked coding", () => {
  assert(
    property(anyText({ minLength: 1, maxLength: 1500 }), (text) => {
      const { bytes, chunked } = encodeChunk(text);
      expect(decoder.decode(bytes)).toBe(text);
      expect(decoder.decode(chunked)).toBe(`${bytes.byteLength.toString(16)}\r\n${text}\r\n`);
    }),
    fuzzed(1000),
  );
});
