import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { problemResponse } from "../../../gateway/http/problem.ts";
import { webRoutes } from "../../../gateway/http/web_routes.ts";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
await writeFile(join(folder.path, "index.html"), "<!doctype html>");
const webAssets = createStaticFiles(folder.path);
const gateway = await openTestGateway({}, { webAssets });

test("without a client there is no provider and no callback, and the page reaches nothing but its gateway", async () => {
  expect(await (await gateway.request("/sign-in")).json()).toEqual({ is_demo: false, provider: null });
  expect((await gateway.request("/callback")).status).toBe(404);
  const policy = (await gateway.request("/")).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).toContain("frame-src 'none';");
});

test("the demo signs in nobody from another machine, also for a request that names localhost", async () => {
  const demoSession = async () => ({ access_token: "t", tenant_id: "i", tenant_name: "Practice Inc." });
  const statusFor = async (peer: string, host: string) => {
    const routes = webRoutes({ webAssets, signIn: null, demoSession, peerAddress: () => peer });
    routes.onError((error) => problemResponse(error));
    return (await routes.request(`http://${host}/demo/session`)).status;
  };
  expect(await statusFor("::ffff:127.0.0.1", "localhost")).toBe(200);
  expect(await statusFor("192.0.2.7", "localhost")).toBe(403);
  expect(await statusFor("127.0.0.1", "rebound.test")).toBe(403);
});
