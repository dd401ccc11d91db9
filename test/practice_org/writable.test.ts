import { request as httpRequest } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { asTerraform, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

const manage = ["policies", "networkZones", "authenticators", "logStreams", "apiTokens", "brands"].map(
  (name) => `okta.${name}.manage`,
);

let org: PracticeOrg;
let client: Awaited<ReturnType<typeof signedIn>>;

beforeAll(async () => {
  org = await startOrg({ isWritable: true });
  client = await signedIn(asTerraform(org), manage);
});

async function send(method: string, path: string, body?: unknown, by = client) {
  const response = await by.call(by.token, path, { method, body });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

async function first(path: string, isWanted: (item: Record<string, unknown>) => boolean = () => true) {
  const items = (await (await client.get(path)).json()) as readonly Record<string, unknown>[];
  const found = items.find(isWanted);
  if (found === undefined) throw new Error(`${path} has no such item`);
  return found;
}

describe("an org that is not writable", () => {
  test("takes no write, and grants no scope for one", async () => {
    const closed = await startOrg();
    const reader = await signedIn(closed);
    expect(await send("PUT", "/api/v1/zones/x", {}, reader)).toMatchObject({ status: 405 });
    await expect(signedIn(closed, manage)).rejects.toThrow("invalid_scope");
  });
});

describe("a writable org", () => {
  test.each([
    ["POST", "/api/v1/users"],
    ["DELETE", "/api/v1/api-tokens/x"],
    ["PATCH", "/api/v1/zones/x"],
    ["POST", "/api/v1/apps"],
    ["POST", "/api/v1/unheard-of"],
  ])("refuses what the Terraform provider does not write: %s %s", async (method, path) => {
    expect(await send(method, path, {})).toMatchObject({ status: 403, body: { errorCode: "E0000006" } });
  });

  test("needs a token with the scope, and the role Super Administrator", async () => {
    const zones = await signedIn(asTerraform(org), ["okta.networkZones.manage"]);
    const name = { name: "Anything", type: "IP" };
    expect((await send("POST", "/api/v1/logStreams", name, zones)).status).toBe(403);
    expect((await fetch(`${org.url}/api/v1/zones`, { method: "POST" })).status).toBe(403);
    await expect(signedIn(org, manage)).rejects.toThrow("invalid_scope");
    const scanner = await signedIn(org, ["okta.networkZones.read"]);
    expect((await send("POST", "/api/v1/zones", name, scanner)).status).toBe(403);
  });

  test("Terraform has a role and an identity of its own, next to a scanner that only reads", async () => {
    const readOnly = await startOrg({ isWritable: true, role: "read-only" });
    const terraform = await signedIn(asTerraform(readOnly), [...manage, "okta.logs.read", "okta.apps.read"]);
    expect((await send("POST", "/api/v1/zones", { name: "New", type: "IP" }, terraform)).status).toBe(200);
    const [event] = (await (await terraform.get("/api/v1/logs")).json()) as readonly { actor: object }[];
    expect(event?.actor).toMatchObject({ id: readOnly.terraform?.clientId, displayName: "Terraform" });
    const labels = async (by: typeof terraform) =>
      ((await (await by.get("/api/v1/apps?limit=200")).json()) as readonly { label: string }[]).map(
        ({ label }) => label,
      );
    expect(await labels(terraform)).toEqual(expect.arrayContaining(["Okta Admin Console", "Terraform"]));
    expect(await labels(await signedIn(readOnly))).toEqual(["Compliance scanner"]);
  });

  test("a scope for writing reads too", async () => {
    expect((await client.get("/api/v1/zones")).status).toBe(200);
    expect((await client.get("/api/v1/apps")).status).toBe(403);
  });

  test("a body that is no JSON object is refused", async () => {
    expect(await send("POST", "/api/v1/zones", [])).toMatchObject({ status: 400, body: { errorCode: "E0000003" } });
  });

  test("zones: created, changed, switched, deleted only when inactive and not built in", async () => {
    const zone = (
      await send("POST", "/api/v1/zones", {
        name: "New",
        type: "IP",
        gateways: [{ type: "CIDR", value: "192.0.2.0/24" }],
      })
    ).body;
    const path = `/api/v1/zones/${String(zone["id"])}`;
    expect(zone).toMatchObject({ status: "ACTIVE", usage: "POLICY", proxies: null });
    expect(await send("POST", "/api/v1/zones", { name: "New", type: "IP" })).toMatchObject({ status: 400 });
    expect((await send("PUT", path, { name: "New", type: "IP", usage: "BLOCKLIST" })).body).toMatchObject({
      usage: "BLOCKLIST",
      gateways: null,
    });
    expect((await send("DELETE", path)).status).toBe(403);
    expect((await send("POST", `${path}/lifecycle/deactivate`)).body).toMatchObject({ status: "INACTIVE" });
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
    const builtIn = await first("/api/v1/zones", (item) => item["system"] === true && item["status"] === "INACTIVE");
    expect((await send("DELETE", `/api/v1/zones/${String(builtIn["id"])}`)).status).toBe(403);
  });

  test("a replaced policy loses what was not sent; a built-in one keeps its priority", async () => {
    const isDefault = (item: Record<string, unknown>) => item["name"] === "Default Policy";
    const policy = await first("/api/v1/policies?type=PASSWORD", isDefault);
    const path = `/api/v1/policies/${String(policy["id"])}`;
    const body = {
      type: "PASSWORD",
      name: "Default Policy",
      priority: policy["priority"],
      settings: { password: { complexity: { minLength: 20 } } },
    };
    expect(await send("PUT", path, { ...body, priority: 1 })).toMatchObject({
      status: 403,
      body: { errorCode: "E0000077" },
    });
    expect((await send("PUT", path, body)).body).toMatchObject({
      description: null,
      settings: { password: { complexity: { minLength: 20, minSymbol: 0 }, age: { historyCount: 4 } } },
    });
    expect(await send("PUT", path, { ...body, type: "OKTA_SIGN_ON" })).toMatchObject({ status: 400 });
    expect((await send("DELETE", path)).status).toBe(403);
    expect((await send("POST", `${path}/lifecycle/deactivate`)).status).toBe(403);
    expect((await send("POST", `${path}/lifecycle/activate`)).status).toBe(204);
  });

  test("policies of one's own: created with rules, changed, switched, deleted", async () => {
    const made = (await send("POST", "/api/v1/policies", { type: "OKTA_SIGN_ON", name: "Mine" })).body;
    const path = `/api/v1/policies/${String(made["id"])}`;
    expect((await send("POST", "/api/v1/policies", { type: "MFA_ENROLL", name: "Mine" })).status).toBe(400);
    const one = (await send("POST", `${path}/rules`, { name: "One", priority: 1 })).body;
    const two = (await send("POST", `${path}/rules`, { name: "Two", priority: 1 })).body;
    expect(one).toMatchObject({ priority: 1, conditions: { network: { connection: "ANYWHERE" } } });
    expect(two).toMatchObject({ priority: 1 });
    const rule = `${path}/rules/${String(one["id"])}`;
    expect(await (await client.get(rule)).json()).toMatchObject({ priority: 2 });
    expect((await send("POST", `${path}/rules`, { name: "Two" })).status).toBe(400);
    expect((await send("POST", `${rule}/lifecycle/deactivate`)).status).toBe(204);
    expect((await send("PUT", rule, { name: "Renamed", actions: { signon: { access: "DENY" } } })).body).toMatchObject({
      name: "Renamed",
      actions: { signon: { access: "DENY", session: { maxSessionIdleMinutes: 120 } } },
    });
    expect((await send("DELETE", rule)).status).toBe(204);
    expect((await send("DELETE", path)).status).toBe(204);
  });

  test("a catch-all rule keeps its conditions and its place", async () => {
    const policies = (await (await client.get("/api/v1/policies?type=ACCESS_POLICY")).json()) as readonly {
      id: string;
    }[];
    const path = `/api/v1/policies/${policies[0]?.id ?? ""}/rules`;
    const catchAll = await first(path, (rule) => rule["system"] === true);
    const actions = { appSignOn: { access: "DENY", verificationMethod: { type: "ASSURANCE", factorMode: "1FA" } } };
    await send("POST", path, { name: "Before it", priority: 0, actions });
    const written = await send("PUT", `${path}/${String(catchAll["id"])}`, {
      name: "Catch-all Rule",
      priority: 1,
      conditions: { network: { connection: "ZONE" } },
      actions,
    });
    expect(written.body).toMatchObject({ priority: 99, conditions: null, actions });
    expect((await send("DELETE", `${path}/${String(catchAll["id"])}`)).status).toBe(403);
  });

  test("log streams: the token is never shown, the type stays", async () => {
    const settings = { host: "acme.splunkcloud.com", edition: "aws", token: "11111111-1111-4111-8111-111111111111" };
    const stream = (
      await send("POST", "/api/v1/logStreams", { name: "SIEM", type: "splunk_cloud_logstreaming", settings })
    ).body;
    const path = `/api/v1/logStreams/${String(stream["id"])}`;
    expect(JSON.stringify(await (await client.get(path)).json())).not.toContain("11111111");
    expect((await send("PUT", path, { name: "SIEM", type: "aws_eventbridge" })).status).toBe(400);
    expect(
      (await send("PUT", path, { name: "SIEM 2", type: "splunk_cloud_logstreaming", settings })).body,
    ).toMatchObject({ name: "SIEM 2" });
    expect((await send("POST", `${path}/lifecycle/deactivate`)).body).toMatchObject({ status: "INACTIVE" });
    expect((await send("DELETE", path)).status).toBe(204);
  });

  test("sign-in pages: replaced as a whole, and taken back", async () => {
    const brand = await first("/api/v1/brands");
    const path = `/api/v1/brands/${String(brand["id"])}/pages/sign-in/customized`;
    const page = { pageContent: "<html></html>", widgetVersion: "^7", widgetCustomizations: { signInLabel: "Enter" } };
    expect((await send("PUT", path, page)).body).toMatchObject({
      ...page,
      widgetCustomizations: { signInLabel: "Enter", helpLabel: null },
    });
    expect((await send("DELETE", path)).status).toBe(204);
    expect(await (await client.get(path)).json()).toMatchObject({ pageContent: null });
  });

  test("what changes nothing leaves no event", async () => {
    const before = org.contents();
    const zone = await first("/api/v1/zones", (item) => item["status"] === "ACTIVE");
    expect((await send("POST", `/api/v1/zones/${String(zone["id"])}/lifecycle/activate`)).status).toBe(200);
    expect(org.contents()).toBe(before);
  });

  test("an id that it does not have is not found", async () => {
    for (const path of ["policies", "zones", "authenticators", "logStreams", "api-tokens"]) {
      expect([path, (await send("PUT", `/api/v1/${path}/nothing`, {})).status]).toEqual([path, 404]);
    }
  });
});

test("a request target in absolute form is the same request", async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port: org.port,
      path: `http://elsewhere.example/.well-known/okta-organization?a=1`,
    };
    httpRequest(options, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(200);
  expect(org.requests.at(-1)).toMatchObject({ path: "/.well-known/okta-organization?a=1" });
});
