import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { changes, createOrgState } from "../../../practice_org/changes/admin_console.ts";
import { profileContents } from "../../../practice_org/contents/profile.ts";
import type { OrgContents, Site } from "../../../practice_org/contents/org_contents.ts";
import { createPracticeOrg, type PracticeOrg } from "../../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../../scanner/fix/fix_files.ts";
import { planFixes, type FixPlan } from "../../../scanner/fix/plan_fixes.ts";
import { denyingOrg, failingOrg } from "../../support/failing_org.ts";
import { createRandom } from "../../support/random.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { compareSignIns } from "./sign_ins.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/**
 * `npx node test/scanner/fix/apply_terraform_main.ts`: applies the plans of 20 practice orgs, changed at random, with Terraform and
 * the real provider, and prints what is wrong afterwards. With `--record` it applies the plan of `failing_org.ts`, and writes
 * what Terraform was given and sent to `test/fixtures/terraform`.
 *
 * Needs `terraform` in PATH, the folder of a `terraform-provider-okta` of version 6.12.0 in OKTA_PROVIDER_DIR (`go build` of
 * its tag), and the right to listen on port 80.
 */

/** The address of the org for the provider, which knows no other port. */
const orgUrl = "http://127.0.0.1";
const fixtures = join(import.meta.dirname, "../../fixtures/terraform");
const recorded = (["typical", "edge", "empty"] as const).map((name) => (site: Site) => profileContents({ name }, site));
const profiles = [failingOrg, denyingOrg, ...recorded];
const random = createRandom(1);
const execute = promisify(execFile);

interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

interface CommandRun {
  /** The last line that says what is planned or was applied. */
  readonly summary: string;
  readonly requests: readonly RecordedRequest[];
}

if (process.argv.includes("--record")) await record();
else {
  for (let number = 1; number <= 20; number += 1) {
    const problems = await applyOne(number);
    console.info(`${number}: ${problems.length === 0 ? "as planned" : problems.join("\n  ")}`);
  }
}

async function record(): Promise<void> {
  await using org = await startOrg(failingOrg);
  const { plan, files } = await planOf(org);
  if (plan.resources.length === 0) throw new TypeError("The plan of the failing org is empty");
  const tfvars = await readFile(join(fixtures, "terraform.tfvars"), "utf8");
  const [first, applied, second] = await runTerraform(org, { ...files, "terraform.tfvars": tfvars });
  const sent = {
    recorded_from: "okta/okta 6.12.0 under Terraform 1.11.4",
    plan: first?.requests,
    apply: applied?.requests,
    second_plan: second?.requests,
  };
  await writeFile(join(fixtures, "requests.json"), `${JSON.stringify(sent, null, 2)}\n`);
  for (const name of ["main.tf", "variables.tf"]) await writeFile(join(fixtures, name), files[name] ?? "");
}

async function applyOne(number: number): Promise<readonly string[]> {
  await using org = await startOrg((site) => changedOrg(site, number));
  try {
    const { plan, files, before } = await planOf(org);
    if (plan.resources.length === 0) return [];
    const values = JSON.stringify(valuesOf(plan));
    const [, applied, second] = await runTerraform(org, { ...files, "terraform.tfvars.json": values });
    const after = await scanPracticeOrg(org);
    const fixed = new Set(plan.fixed.map(({ finding }) => finding.fingerprint));
    const still = after.results.flatMap(({ findings }) =>
      findings.filter(({ status, fingerprint }) => status === "FAIL" && fixed.has(fingerprint)),
    );
    return [
      ...compareSignIns(before.document.artifacts, after.document.artifacts, random),
      ...(/ 0 destroyed/.test(applied?.summary ?? "") ? [] : ["something was destroyed"]),
      ...(second?.summary.startsWith("No changes") ? [] : ["the second plan of Terraform has changes"]),
      ...still.map(({ detail }) => `still fails: ${detail}`),
      ...planFixes(after.results, after.document.artifacts).resources.map(({ title }) => `planned again: ${title}`),
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function changedOrg(site: Site, number: number): OrgContents {
  const profile = profiles[number % profiles.length] ?? failingOrg;
  const state = createOrgState(profile(site), { site, clock: Date.now });
  for (const change of changes) if (random() < 0.3 && state.isPossible(change)) state.change(change.name);
  return state.contents();
}

/** A practice org at `orgUrl` that takes writes, with the requests that arrive there. */
interface StartedOrg extends PracticeOrg, AsyncDisposable {
  readonly sent: RecordedRequest[];
}

async function startOrg(profile: (site: Site) => OrgContents): Promise<StartedOrg> {
  const rateLimit = { perWindow: 100_000 };
  const org = await createPracticeOrg({ profile, role: "super", isWritable: true, publicUrl: orgUrl, rateLimit });
  const sent: RecordedRequest[] = [];
  const proxy = await startProxy(org, sent);
  const stop = async (): Promise<void> => {
    proxy.close();
    await org.stop();
  };
  return { ...org, sent, [Symbol.asyncDispose]: stop };
}

async function planOf(org: PracticeOrg) {
  const before = await scanPracticeOrg(org);
  const plan = planFixes(before.results, before.document.artifacts);
  return { before, plan, files: renderFiles(plan, { orgUrl, collectedAt: before.document.evaluated_at }) };
}

/** A token is given the first zone that its description names. */
function valuesOf({ variables }: FixPlan): Readonly<Record<string, unknown>> {
  const stream: Readonly<Record<string, string>> = {
    log_stream_type: "aws_eventbridge",
    log_stream_account_id: "123456789012",
    log_stream_event_source_name: "siem",
    log_stream_region: "us-east-1",
  };
  const given = variables.map(({ name, type, description }) => [
    name,
    type === "string" ? stream[name] : [/ is (\S+?)[.,]/.exec(description)?.[1] ?? ""],
  ]);
  return Object.fromEntries(given);
}

/** Plans, applies and plans again, in a folder with these files. Rejects where a command fails. */
async function runTerraform(org: StartedOrg, files: Readonly<Record<string, string>>): Promise<readonly CommandRun[]> {
  const provider = process.env["OKTA_PROVIDER_DIR"];
  if (provider === undefined) throw new RangeError("OKTA_PROVIDER_DIR: expected the folder of terraform-provider-okta");
  const { terraform, sent } = org;
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
  const runs: CommandRun[] = [];
  for (const [command = "", ...options] of [
    ["plan", "-out=plan.bin"],
    ["apply", "plan.bin"],
    ["plan", "-detailed-exitcode"],
  ]) {
    const first = sent.length;
    const given = [command, "-no-color", "-input=false", "-parallelism=1", ...options];
    const { stdout } = await execute("terraform", given, { cwd: folder.path, maxBuffer: 64 * 1024 * 1024, env });
    const summary = stdout.split("\n").findLast((line) => /^(Plan|Apply|No changes)/.test(line)) ?? "";
    console.info(`   ${summary}`);
    runs.push({ summary, requests: sent.slice(first) });
  }
  return runs;
}

async function startProxy(org: PracticeOrg, sent: RecordedRequest[]): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method = "GET", url = "/", headers } = incoming;
      const { pathname, search } = new URL(url, orgUrl);
      const path = `${pathname}${search}`;
      const onward = request({ host: "127.0.0.1", port: org.port, method, path, headers }, (answer) => {
        const status = answer.statusCode ?? 0;
        if (!pathname.startsWith("/oauth2/")) {
          sent.push({ method, path, ...(body.length > 0 && { body: JSON.parse(String(body)) as unknown }), status });
        }
        outgoing.writeHead(status, answer.headers);
        answer.pipe(outgoing);
      });
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(80, "127.0.0.1", resolve));
  return proxy;
}
