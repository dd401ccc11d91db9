import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import assert from "node:assert/strict";
import { aReport } from "../support/report_builders.ts";
import { call, createScan, gatewayCase, keyOf, refused, type GatewayCase } from "./harness.ts";

/** Random, so that it does not compress: several parts in the database. */
function randomText(bytes: number): string {
  let text = "";
  for (let left = bytes; left > 0; left -= 48_000) {
    text += btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(Math.min(left, 48_000)))));
  }
  return text;
}

/** Reports that are kept. */
export const keepingCases: readonly GatewayCase[] = [
  gatewayCase("keeps the report of a scan, gives it back byte for byte, and takes no other", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const { id } = await createScan(gateway);
    const path = `/api/v1/scans/${id}/report`;
    // Some parts of it cannot be compressed: several chunks.
    const text = JSON.stringify({ ...aReport(), padding: randomText(2_000_000) });
    const json = gzipSync(text);
    await refused(await call(gateway, path, { as }), 404);
    const put = (body: unknown) => call(gateway, path, { method: "PUT", as, json: body });
    await refused(await put({}), 415);
    const isNoGzip = { "content-encoding": "gzip" };
    await refused(await call(gateway, path, { method: "PUT", as, json: {}, headers: isNoGzip }), 400);
    const tooLarge = new Uint8Array(8 * 1_048_576 + 1);
    assert.match(await refused(await put(tooLarge), 413), /larger than 8388608 bytes/);
    assert.equal((await put(json)).status, 201);
    assert.equal((await put(json)).status, 200);
    await refused(await put(gzipSync("{}")), 409);
    const read = await call(gateway, path, { as });
    const etag = read.headers.get("etag") ?? "";
    assert.equal(etag, `"${createHash("sha256").update(json).digest("hex")}"`);
    assert.equal(read.headers.get("content-type"), "application/json");
    assert.equal((await read.text()) === text, true);
    const decompressed = await call(gateway, path, { as, headers: { "accept-encoding": "identity" } });
    assert.equal(decompressed.headers.get("content-encoding"), null);
    assert.equal((await decompressed.text()) === text, true);
    const again = await call(gateway, path, { as, headers: { "if-none-match": etag } });
    assert.equal(again.status, 304);
    const stranger = `Api-Key ${gateway.strangerApiKey}`;
    await refused(await call(gateway, path, { as: stranger }), 404);
    await refused(await call(gateway, path, { method: "PUT", as: stranger, json }), 404);
  }),
];
