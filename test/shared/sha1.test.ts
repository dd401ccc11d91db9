import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../support/any_text.ts";
import { toHex } from "../../shared/hex.ts";
import { sha1 } from "../../shared/sha1.ts";

test("is SHA-1, at every length around the size of a block", () => {
  for (let length = 0; length < 200; length += 1) {
    const text = "x".repeat(length);
    expect(toHex(sha1(text)), `${length}`).toBe(createHash("sha1").update(text).digest("hex"));
  }
});

test("is SHA-1 of any text after any bytes", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), fc.uint8Array({ maxLength: 100 }), (text, prefix) => {
      const expected = createHash("sha1").update(prefix).update(text).digest("hex");
      expect(toHex(sha1(text, prefix))).toBe(expected);
    }),
  );
});
