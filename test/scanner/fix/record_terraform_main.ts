import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createPracticeOrg } from "../../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../../scanner/fix/fix_files.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/**
 * `npx node test/scanner/fix/record_terraform_main.ts`: applies the plan of `failing_org.ts` with Terraform and the real
 * provider, and writes what Terraform was given and sent to `test/fixtures/terraform`.
 *
 * Needs `terraform` in PATH, the folder of a `terraform-provider-okta` of version 6.12.0 in OKTA_PROVIDER_DIR (`go build` of
 * its tag), and the right to listen on port 80.
 */

/** The address of the org for the provider, which knows no other port. */
const orgUrl = "http://127.0.0.1";
const fixtures = join(import.meta.dirname, "../../fixtures/terraform");

const provider = process.env["OKTA_PROVIDER_DIR"];
if (provider === undefined) throw new RangeError("OKTA_PROVIDER_DIR: expected the folder of terraform-provider-okta");
const org = await createPracticeOrg({
  profile: failingOrg,
  role: "super",
  isWritable: true,
  publicUrl: orgUrl,
  rateLimit: { perWindow: 100_000 },
});
if (org.terraform === null) throw new RangeError("expected a practice org that takes writes");
const sent: object[] = [];
const proxy = createProxy();
await new Promise<void>((resolve) => proxy.listen(80, "127.0.0.1", resolve));
await using folder = await temporaryFolder();

const { results, document } = await scanPracticeOrg(org);
const plan = planFixes(results, document.artifacts);
if (plan.resources.length === 0) throw new TypeError("The plan of the failing org is empty");
const files = renderFiles(plan, { orgUrl, collectedAt: document.evaluated_at });
await writeFiles(folder.path, {
  ...files,
  "terraform.tfvars": await readFile(join(fixtures, "terraform.tfvars"), "utf8"),
  ".terraformrc": `provider_installation {\n  dev_overrides { "okta/okta" = ${JSON.stringify(provider)} }\n  direct {}\n}\n`,
  "terraform_key.pem": org.terraform.privateKeyPem,
});
const env = {
  ...process.env,
  TF_CLI_CONFIG_FILE: join(folder.path, ".terraformrc"),
  OKTA_API_CLIENT_ID: org.terraform.clientId,
  OKTA_API_PRIVATE_KEY: join(folder.path, "terraform_key.pem"),
  OKTA_API_PRIVATE_KEY_ID: String(org.terraform.privateKeyJwk.kid),
};
const recorded = {
  recorded_from: "okta/okta 6.12.0 under Terraform 1.11.4",
  plan: await terraform("plan", "-out=plan.bin"),
  apply: await terraform("apply", "plan.bin"),
  second_plan: await terraform("plan", "-detailed-exitcode"),
};
const { "main.tf": main = "", "variables.tf": variables = "" } = files;
await writeFiles(fixtures, {
  "requests.json": `${JSON.stringify(recorded, null, 2)}\n`,
  "main.tf": main,
  "variables.tf": variables,
});
proxy.close();
await org.stop();

/** Returns the requests of a command. Rejects where it fails. */
async function terraform(command: string, ...options: readonly string[]): Promise<readonly object[]> {
  const given = [command, "-no-color", "-input=false", "-parallelism=1", ...options];
  const { stdout } = await promisify(execFile)("terraform", given, { cwd: folder.path, maxBuffer: 67_108_864, env });
  console.info(stdout.split("\n").findLast((line) => /^(Plan|Apply|No changes)/.test(line)));
  return sent.splice(0);
}

async function writeFiles(directory: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
}

/** Passes requests on to the org, and keeps all but those for a token. */
function createProxy() {
  return createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method = "GET", url = "/", headers } = incoming;
      const { pathname, search } = new URL(url, orgUrl);
      const path = `${pathname}${search}`;
      const onward = request({ host: "127.0.0.1", port: org.port, method, path, headers }, (answer) => {
        const status = answer.statusCode ?? 0;
        if (!pathname.startsWith("/oauth2/"))
          sent.push({ method, path, ...(body.length > 0 && { body: JSON.parse(String(body)) as unknown }), status });
        outgoing.writeHead(status, answer.headers);
        answer.pipe(outgoing);
      });
      onward.end(body);
    });
  });
}
