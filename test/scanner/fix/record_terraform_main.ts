import { execFile } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createPracticeOrg } from "../../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../../scanner/fix/fix_files.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import { failingOrg } from "../../support/failing_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/**
 * `npx node test/scanner/fix/record_terraform_main.ts`: applies the plan of `failing_org.ts` with Terraform and the real provider, and
 * writes what Terraform was given and sent to `test/fixtures/terraform`.
 *
 * Needs `terraform` in PATH, the folder of a `terraform-provider-okta` of version 6.12.0 in OKTA_PROVIDER_DIR (`go build` of
 * its tag), and the right to listen on port 80.
 */

/** The address of the org for the provider, which knows no other port. */
const orgUrl = "http://127.0.0.1";
const fixtures = join(import.meta.dirname, "../../fixtures/terraform");
const execute = promisify(execFile);

const org = await createPracticeOrg({
  profile: failingOrg,
  role: "super",
  isWritable: true,
  port: 80,
  publicUrl: orgUrl,
  rateLimit: { perWindow: 100_000 },
});
/** With bodies, which the org itself does not keep. */
const sent: object[] = [];
subscribe("http.server.request.start", (message) => {
  const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
  const { method = "GET", url: path = "/" } = request;
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("finish", () => {
    if (path.startsWith("/oauth2/")) return;
    const body = String(Buffer.concat(chunks));
    sent.push({ method, path, ...(body !== "" && { body: JSON.parse(body) as unknown }), status: response.statusCode });
  });
});
try {
  await record();
} finally {
  await org.stop();
}

async function record(): Promise<void> {
  const { results, document } = await scanPracticeOrg(org);
  const plan = planFixes(results, document.artifacts);
  if (plan.resources.length === 0) throw new TypeError("The plan of the failing org is empty");
  const files = renderFiles(plan, { orgUrl, collectedAt: document.evaluated_at });
  const tfvars = await readFile(join(fixtures, "terraform.tfvars"), "utf8");
  const [first, applied, second] = await runTerraform({ ...files, "terraform.tfvars": tfvars });
  const recorded = {
    recorded_from: "okta/okta 6.12.0 under Terraform 1.11.4",
    plan: first,
    apply: applied,
    second_plan: second,
  };
  await writeFile(join(fixtures, "requests.json"), `${JSON.stringify(recorded, null, 2)}\n`);
  for (const name of ["main.tf", "variables.tf"]) await writeFile(join(fixtures, name), files[name] ?? "");
}

/** Plans, applies and plans again, in a folder with these files; returns the requests of each. Rejects where a command fails. */
async function runTerraform(files: Readonly<Record<string, string>>): Promise<readonly (readonly object[])[]> {
  const provider = process.env["OKTA_PROVIDER_DIR"];
  if (provider === undefined) throw new RangeError("OKTA_PROVIDER_DIR: expected the folder of terraform-provider-okta");
  const { terraform } = org;
  if (terraform === null) throw new RangeError("expected a practice org that takes writes");
  await using folder = await temporaryFolder();
  const inFolder = (name: string) => join(folder.path, name);
  const override = `provider_installation {\n  dev_overrides { "okta/okta" = ${JSON.stringify(provider)} }\n  direct {}\n}\n`;
  const all = { ...files, ".terraformrc": override, "terraform_key.pem": terraform.privateKeyPem };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(inFolder(name)), { recursive: true });
    await writeFile(inFolder(name), text);
  }
  const env = {
    ...process.env,
    TF_CLI_CONFIG_FILE: inFolder(".terraformrc"),
    OKTA_API_CLIENT_ID: terraform.clientId,
    OKTA_API_PRIVATE_KEY: inFolder("terraform_key.pem"),
    OKTA_API_PRIVATE_KEY_ID: String(terraform.privateKeyJwk.kid),
  };
  const runs: (readonly object[])[] = [];
  for (const [command = "", ...options] of [
    ["plan", "-out=plan.bin"],
    ["apply", "plan.bin"],
    ["plan", "-detailed-exitcode"],
  ]) {
    const first = sent.length;
    const given = [command, "-no-color", "-input=false", "-parallelism=1", ...options];
    await execute("terraform", given, { cwd: folder.path, maxBuffer: 64 * 1024 * 1024, env });
    runs.push(sent.slice(first));
  }
  return runs;
}
