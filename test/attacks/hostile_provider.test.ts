import { createServer, type RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { beforeAll, afterAll, expect, onTestFinished, test } from "vitest";
import { generateKeyPairSync } from "node:crypto";
import { callCommand } from "../support/called_command.ts";
import { listen } from "../support/listen.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

/**
 * An organization's address that leads to a hostile server. Its single answers are tested in scanner/okta/http_transport.test.ts
 * and http_idp_client.test.ts; here the whole command receives them.
 */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let keyFile: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  keyFile = join(folder.path, "key.pem");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
});
afterAll(() => folder[Symbol.asyncDispose]());

async function start(listener: RequestListener): Promise<string> {
  const { url, close } = await listen(createServer(listener));
  onTestFinished(close);
  return url;
}

const bomb = gzipSync(Buffer.alloc(200 * 1_048_576, 0x20));

test.each<[string, RequestListener, message?: string]>([
  [
    "two hundred megabytes in two hundred kilobytes",
    (_, response) => void response.setHeader("content-encoding", "gzip").end(bomb),
    "the answer is larger than 33554432 bytes",
  ],
  ["JSON without end", (_, response) => pour(response, "[[[[[[[[[[[[[[[["), "the answer is larger than 33554432 bytes"],
  ["headers without end", (_, response) => void response.setHeader("x-fill", "x".repeat(200_000)).end("{}")],
  [
    "a token that is a line of a log",
    (_, response) =>
      void response
        .setHeader("content-type", "application/json")
        .end('{"access_token":"a\\r\\nx: y","token_type":"Bearer\\u001b[2J"}'),
  ],
  [
    "words for a terminal",
    (_, response) =>
      void response
        .writeHead(400, { "content-type": "application/json" })
        .end('{"error":"\\u001b[2J\\u001b]0;x\\u0007","error_description":"\\r\\n::error::forged"}'),
  ],
  [
    "prototype keys",
    (_, response) =>
      void response
        .setHeader("content-type", "application/json")
        .end('{"__proto__":{"access_token":"x"},"constructor":{"prototype":{}}}'),
  ],
])(
  "%s as every answer: the scan ends with one clear error and no verdict",
  async (_, listener, message = "") => {
    const url = await start(listener);
    const env = { IDP_ORG_URL: url, IDP_CLIENT_ID: "0oa1", IDP_PRIVATE_KEY_FILE: keyFile };
    const args = ["scan", "--format", "json", "--no-stream", "--timeout", "5"];
    const { code, stdout, stderr } = await callCommand(args, { cwd: folder.path, env });
    expect(code, stderr).toBe(3);
    const document: unknown = JSON.parse(stdout);
    expect(document).toMatchObject({ schema: "scanstream.error/1", message: expect.stringContaining(message) });
    // Both outputs escape or drop control characters too: the parsed values show what the scanner let in.
    for (const value of Object.values(document as object)) expect(value).not.toMatch(/\p{Cc}/u);
    expect(stdout + stderr).not.toMatch(/\u001b\[2J|\u001b\]0|^::error|\n\s+at /m);
  },
  90_000,
);

test("redirects to other hosts take nothing along: no key, no token, no request", async () => {
  const asked: string[] = [];
  const other = await start((request, response) => {
    asked.push(request.url ?? "");
    response.end("{}");
  });
  const url = await start((request, response) => {
    response.writeHead(307, { location: `${other}${request.url ?? ""}` }).end();
  });
  const env = { IDP_ORG_URL: url, IDP_CLIENT_ID: "0oa1", IDP_PRIVATE_KEY_FILE: keyFile };
  const { code } = await callCommand(["scan", "--no-stream"], { cwd: folder.path, env });
  expect(code).toBe(3);
  expect(asked).toEqual([]);
});

function pour(response: Parameters<RequestListener>[1], text: string): void {
  const chunk = text.repeat(4096);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
}
