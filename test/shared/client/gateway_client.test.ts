import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import * as v from "valibot";
import { openGateway, problemOf } from "../../../shared/client/gateway_client.ts";
import { startScriptedServer, type Answer } from "../../support/scripted_server.ts";

/** Answers of a hostile gateway, or of a program in its place. */

async function callTo(answer: Answer, method = "GET") {
  const server = await startScriptedServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return openGateway({ url: server.url, apiKey: "k", timeoutMs: 20_000 }).send(method, "/");
}

test("an answer that inflates to a hundred mebibytes is not held", async () => {
  const bomb = gzipSync(Buffer.alloc(100 * 1_048_576, " "));
  const before = process.memoryUsage().rss;
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  await expect(callTo((response) => void response.writeHead(200, headers).end(bomb))).rejects.toThrow(
    /larger than 8388608/,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1_048_576);
});

test("a refusal whose body never ends is reported as the refusal", async () => {
  const answering = callTo((response) => {
    response.writeHead(403, { "content-type": "application/problem+json" });
    const write = () => {
      while (response.write(Buffer.alloc(65_536, " ")));
    };
    response.on("drain", write);
    write();
  });
  await expect(answering).rejects.toMatchObject({ name: "GatewayRefusal", httpStatus: 403 });
});

test.each<[string, Answer]>([
  ["it redirects, which is not followed", (response) => void response.writeHead(301, { location: "/x" }).end()],
  ["the response is not HTTP, or its head is too large", ({ socket }) => void socket?.end("SSH-2.0-OpenSSH\r\n")],
  [
    "the response is not HTTP",
    ({ socket }) => void socket?.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  ],
])("an answer %# is explained: %s", async (words, answer) => {
  const problem = await callTo(answer).then(String, problemOf);
  expect(problem).toContain(words);
  expect(problem).toContain("check SCANSTREAM_URL");
});

/** How often a call is sent to a gateway that refuses each with `status` and `retryAfter`, but for its nth answer. */
async function countCalls(method: string, status: number, retryAfter: string, answered = 3) {
  let count = 0;
  const answering = callTo((response) => {
    count += 1;
    response.writeHead(count === answered ? 200 : status, { "retry-after": retryAfter }).end("{}");
  }, method);
  const isAnswered = await answering.then(
    () => true,
    () => false,
  );
  return { isAnswered, count };
}

test("a read that a busy gateway refuses is sent again, three times at most, after a wait of a few seconds at most", async () => {
  expect(await countCalls("GET", 503, "0")).toEqual({ isAnswered: true, count: 3 });
  expect(await countCalls("GET", 429, "0")).toEqual({ isAnswered: true, count: 3 });
  expect(await countCalls("GET", 503, "0", 5)).toEqual({ isAnswered: false, count: 4 });
  expect(await countCalls("GET", 503, "6")).toEqual({ isAnswered: false, count: 1 });
  expect(await countCalls("GET", 503, "")).toEqual({ isAnswered: false, count: 1 });
  expect(await countCalls("GET", 404, "0")).toEqual({ isAnswered: false, count: 1 });
  expect(await countCalls("POST", 503, "0")).toEqual({ isAnswered: false, count: 1 });
});

test("a list without end is left after a thousand pages", async () => {
  let read = 0;
  const answer = async () => Response.json({ next_cursor: String((read += 1)) });
  const gateway = openGateway({ url: "http://gateway.test", apiKey: "k", timeoutMs: 60_000, fetch: answer });
  const all = async () => {
    for await (const _page of gateway.pages("/", v.object({ next_cursor: v.string() })));
  };
  await expect(all()).rejects.toThrow("does not end after 1000 pages");
  expect(read).toBe(1000);
});
