import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientIdInConfig, writeSetupConfig } from "../../../scanner/setup/write_config.ts";
import { ownFolder } from "../../support/clean_up.ts";

const entry = (org_url: string) => ({
  org_url,
  client_id: "0oaNew",
  private_key_file: ".scanstream/keys/acme.okta.com.pem",
  private_key_id: "kid-1",
});

async function written(before: string | null, orgUrl = "https://acme.okta.com") {
  const file = join(await ownFolder(), "scanstream.config.json");
  if (before !== null) await writeFile(file, before);
  const name = await writeSetupConfig(file, entry(orgUrl));
  return { name, text: await readFile(file, "utf8"), clientId: await clientIdInConfig(file, orgUrl) };
}

test("a new file has the org under the first label of its host", async () => {
  const { name, text, clientId } = await written(null);
  expect([name, clientId]).toEqual(["acme", "0oaNew"]);
  expect(JSON.parse(text)).toEqual({ organizations: [{ name: "acme", ...entry("https://acme.okta.com") }] });
});

test("an entry of the same host is changed in its place; comments, order and the rest stay", async () => {
  const before = `{
  // Ours
  "parallel": 2,
  "organizations": [
    { "name": "gov", "org_url": "https://gov.okta.com", "client_id": "0oaGov" },
    // The large one
    { "name": "prod", "fail_on": "fail:high", "org_url": "acme.okta.com", "client_id": "0oaOld" }
  ]
}
`;
  const { name, text, clientId } = await written(before);
  expect([name, clientId]).toEqual(["prod", "0oaNew"]);
  expect(text).toContain('  // Ours\n  "parallel": 2,');
  expect(text).toContain("    // The large one\n");
  expect(text).toMatch(/"gov", "org_url": "https:\/\/gov\.okta\.com", "client_id": "0oaGov" \},/);
  expect(text.indexOf('"fail_on": "fail:high"')).toBeLessThan(text.indexOf('"client_id": "0oaNew"'));
  expect(text).not.toContain("0oaOld");
});

test("another org is added under a name that is free", async () => {
  const before = '{ "organizations": [{ "name": "acme", "org_url": "https://acme.oktapreview.com" }] }';
  expect((await written(before)).name).toBe("acme-2");
  expect((await written(null, "http://127.0.0.1:8788")).name).toBe("127.0.0.1");
});

test("the only org of a file without a list is changed in the defaults; another one is refused, and the file left alone", async () => {
  const before = '{ "defaults": { "org_url": "https://acme.okta.com" } }';
  const { name, text } = await written(before);
  expect(name).toBeNull();
  expect(JSON.parse(text)).toEqual({ defaults: entry("https://acme.okta.com") });
  await expect(written(before, "https://globex.okta.com")).rejects.toThrow(
    /its defaults are of https:\/\/acme\.okta\.com/,
  );
  await expect(written('{ "organisations": [] }')).rejects.toThrow(/unknown key/);
});
