import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import assert from "node:assert/strict";
import { aReport } from "../support/report_builders.ts";
import { call, createScan, keyOf, refused, type GatewayCases } from "./harness.ts";

/** Reports that are kept. */
export const keepingCases: GatewayCases = {
  "keeps the report of a scan, gives it back byte for byte, and takes no other": async (gateway) => {
    const as = keyOf(gateway.tenant);
    const { id } = await createScan(gateway);
    const path = `/api/v1/scans/${id}/report`;
    // Most of it cannot be compressed: several chunks.
    const text = JSON.stringify({ ...aReport(), padding: randomBytes(2_000_000).toString("base64") });
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
  },
};
