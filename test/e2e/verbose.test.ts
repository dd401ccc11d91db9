import { createPrivateKey } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { callCommand } from "../support/called_command.ts";

let org: PracticeOrg;

beforeAll(async () => {
  org = await createPracticeOrg({ profile: { name: "large", appCount: 450 }, role: "super" });
});
afterAll(() => org.stop());

test("no line of --verbose holds a key, an assertion, a token, a proof, a cursor or a search text", async () => {
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
  const { code, stderr } = await callCommand(["scan", "--verbose", "--fail-on", "never"], { cwd: "/tmp", env });
  expect(code).toBe(0);
  const requests = stderr.split("\n").filter((line) => line.startsWith("request "));
  expect(requests).toContainEqual(expect.stringMatching(/^request GET \/api\/v1\/apps\?after=…&limit=200 200 /));
  const { d, n } = createPrivateKey(org.privateKeyPem).export({ format: "jwk" });
  for (const secret of [d, n, "PRIVATE KEY", "eyJ", "Bearer", "DPoP", "client_assertion"]) {
    expect(stderr).not.toContain(secret);
  }
  for (const line of requests) expect(line).not.toMatch(/(?:after|filter|q|search)=[^…]/);
});
