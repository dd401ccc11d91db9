import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { call, refused, type GatewayCases } from "./harness.ts";

/** Status, and the files of the page. */
export const httpCases: GatewayCases = {
  "says that it is alive and ready": async (gateway) => {
    for (const path of ["/healthz", "/readyz"]) {
      const response = await call(gateway, path);
      assert.equal(response.status, 200, await response.text());
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    }
  },
  "serves the live page with a policy, and its files as immutable": async (gateway) => {
    const page = await call(gateway, "/");
    const html = await page.text();
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");
    const [, script = ""] = /src="\/?(assets\/[^"]+\.js)"/.exec(html) ?? [];
    const file = await call(gateway, `/${script}`);
    assert.equal(file.status, 200, script);
    assert.match(file.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.match(file.headers.get("cache-control") ?? "", /immutable/);
    assert.ok((await file.text()).length > 0);
    await refused(await call(gateway, "/assets/none-0000000000.js"), 404);
  },
};

/** Cases of runtimes that hand on what was sent: workerd knows its own methods, takes off headers without a value, settles the coding. */
export const asSentCases: GatewayCases = {
  "sends the page's files in the smallest coding that is accepted, each with its own entity tag": async (gateway) => {
    const [, script = ""] = /src="\/?(assets\/[^"]+\.js)"/.exec(await (await call(gateway, "/")).text()) ?? [];
    const inCoding = async (coding: string, method = "GET") => {
      const response = await call(gateway, `/${script}`, { method, headers: { "accept-encoding": coding } });
      const { headers } = response;
      assert.match(headers.get("vary") ?? "", /accept-encoding/i);
      return {
        encoding: headers.get("content-encoding"),
        tag: headers.get("etag") ?? "",
        text: await response.text(),
      };
    };
    const [plain, gzip, brotli] = [
      await inCoding("identity"),
      await inCoding("gzip, br;q=0"),
      await inCoding("gzip, br"),
    ];
    assert.deepEqual([plain.encoding, gzip.encoding, brotli.encoding], [null, "gzip", "br"]);
    assert.deepEqual([gzip.text, brotli.text], [plain.text, plain.text]);
    assert.equal(new Set([plain.tag, gzip.tag, brotli.tag, ""]).size, 4, "an entity tag for each coding");
    assert.deepEqual(await inCoding("br", "HEAD"), { ...brotli, text: "" });
    const headers = { "accept-encoding": "br", "if-none-match": brotli.tag };
    assert.equal((await call(gateway, `/${script}`, { headers })).status, 304);
  },
  "resolves the dot segments of a path": async (gateway) => {
    const request = get(gateway.url, { path: "/api/v1/scans/x/%2e%2e/../api-keys", agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 401, await text(response));
  },
  "a Host that is no host is 400": async (gateway) => {
    for (const host of ["a b", "x/openapi.json?"]) {
      const request = get(`${gateway.url}/api/v1/event-stream`, { headers: { host }, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      assert.equal(response.statusCode, 400, await text(response));
      assert.equal(response.headers["content-type"], "application/problem+json");
    }
  },
  "an unknown method is 405, and `allow` names the known ones": async (gateway) => {
    for (const method of ["FOO", "CONNECTX"]) {
      const response = await call(gateway, "/healthz", { method });
      assert.match(response.headers.get("allow") ?? "", /GET/);
      await refused(response, 405);
    }
  },
};
