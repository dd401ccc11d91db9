import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatewayCommand } from "../../conformance/gateway/gateway_command.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { builtPackage, startConformance, temporaryFolder } from "../support/command_line.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** `npm run conformance -- gateway URL`, as somebody runs it who has deployed a gateway. */

const corsOrigin = "https://app.example.com";
let gateway: TestGateway;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  gateway = await startTestGateway(
    { CORS_ORIGINS: corsOrigin },
    { webAssets: createStaticFiles(`${builtPackage}/web`) },
  );
  variables = {
    CONFORMANCE_API_KEY: gateway.acme.apiKey,
    CONFORMANCE_TOKEN: gateway.acme.token,
    CONFORMANCE_STRANGER_API_KEY: gateway.globex.apiKey,
    CONFORMANCE_ORIGIN: corsOrigin,
  };
});

afterAll(async () => {
  await gateway.stop();
  await folder[Symbol.asyncDispose]();
});

/** In this process. */
async function check(url: string, env: Readonly<Record<string, string>>, words = "") {
  let stdout = "";
  const code = await gatewayCommand(url, words, { env, stdout: (text) => void (stdout += text) });
  return { code, stdout };
}

// The cases themselves run in `test/edge`: here a few that need each of the variables.
test("with every variable, only what needs the gateway's own machines is left out", async () => {
  const { code, stdout } = await check(gateway.url, variables, "other");
  expect(stdout.split("\n").filter((line) => line.startsWith("FAILED"))).toEqual([]);
  expect(code).toBe(0);
  const leftOut = stdout.split("\n").filter((line) => line.startsWith("left out"));
  expect(leftOut.filter((line) => !line.includes("the gateway's own database and broker"))).toEqual([]);
  expect(stdout).toMatch(/\n\d+ passed, 0 failed, \d+ left out\n$/);
});

test("with the key alone, what is missing is named by its variable", async () => {
  const { code, stdout } = await check(gateway.url, { CONFORMANCE_API_KEY: gateway.acme.apiKey }, "other");
  expect(code).toBe(0);
  for (const name of Object.keys(variables).slice(1)) expect(stdout).toContain(name);
});

test("ends although a case failed with its stream open", async () => {
  // Takes events and loses them, so that the case waits for one in vain.
  async function pass({ method = "GET", url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = "" } = headers;
    const isEvent = url.endsWith("/events");
    const body = method === "GET" ? {} : { body: "{}" };
    const answer = isEvent
      ? new Response("{}", { status: 202 })
      : await fetch(`${gateway.url}${url}`, {
          method,
          headers: { authorization, "content-type": "application/json" },
          ...body,
        });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }
  const proxy = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const args = ["gateway", `http://127.0.0.1:${port}`, "what is published once a stream is open"];
  const { code, stdout } = await startConformance(args, { cwd: folder.path, env: variables }).finished;
  expect(stdout).toContain("\n0 passed, 1 failed, 0 left out\n");
  expect(code).toBe(1);
  proxy.closeAllConnections();
  proxy.close();
});

describe("what cannot be checked is a usage error with the reason", () => {
  async function keyWith(scopes: string): Promise<string> {
    const created = await gateway.gateway.admin("api-key.create", { tenant: gateway.acme.id, name: "few", scopes });
    return (created as { readonly api_key: string }).api_key;
  }

  test.each([
    [
      "a key without the scope admin",
      async () => ({ CONFORMANCE_API_KEY: await keyWith("read,publish") }),
      "CONFORMANCE_API_KEY has to have the scopes read, publish and admin",
    ],
    ["a key that is none", async () => ({ CONFORMANCE_API_KEY: "scs_none" }), "CONFORMANCE_API_KEY was refused"],
    [
      "a stranger of the same tenant",
      async () => ({ CONFORMANCE_STRANGER_API_KEY: gateway.acme.apiKey }),
      "is of the same tenant",
    ],
    ["a token of another tenant", async () => ({ CONFORMANCE_TOKEN: gateway.globex.token }), "is of another tenant"],
    ["no key", async () => ({ CONFORMANCE_API_KEY: "" }), "CONFORMANCE_API_KEY is not set"],
  ])("%s", async (_name, env, reason) => {
    const checked = check(gateway.url, { ...variables, ...(await env()) });
    await expect(checked).rejects.toThrow(UsageError);
    await expect(checked).rejects.toThrow(reason);
  });

  test("nothing listens there", async () => {
    const checked = check("http://127.0.0.1:1", variables);
    await expect(checked).rejects.toThrow("Cannot check http://127.0.0.1:1: it cannot be reached");
  });
});
