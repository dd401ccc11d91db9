import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { renderFiles } from "../../scanner/fix/fix_files.ts";
import { readFixFolder } from "../../scanner/fix/fix_folder.ts";
import { planFixes } from "../../scanner/fix/plan_fixes.ts";
import { failingOrg } from "./failing_org.ts";
import { scanPracticeOrg } from "./scan_practice_org.ts";

/**
 * `npm run fix:record`: applies the plan of `failing_org.ts` with Terraform and the real provider, and writes what they sent
 * to `test/fixtures/terraform`. Needs `terraform` in PATH, the folder of a `terraform-provider-okta` of version 6.12.0 in
 * OKTA_PROVIDER_DIR (`go build` of its tag), and the right to listen on port 80: the provider knows no other.
 */

const fixtures = join(import.meta.dirname, "../fixtures/terraform");
const orgUrl = "http://127.0.0.1";
const run = promisify(execFile);

interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

const provider = process.env["OKTA_PROVIDER_DIR"];
if (provider === undefined) throw new RangeError("OKTA_PROVIDER_DIR: expected the folder of terraform-provider-okta");

const org = await createPracticeOrg({
  profile: failingOrg,
  role: "super",
  isWritable: true,
  publicUrl: orgUrl,
  rateLimit: { perWindow: 10_000 },
});
let sent: RecordedRequest[] = [];
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

const folder = await mkdtemp(join(tmpdir(), "scanstream-terraform-"));
try {
  const scan = await scanPracticeOrg(org);
  const plan = planFixes(scan.results, scan.document.artifacts);
  const origin = { orgUrl, collectedAt: scan.document.evaluated_at };
  const files = renderFiles(plan, origin, await readFixFolder(folder));
  const variables = await readFile(join(fixtures, "terraform.tfvars"), "utf8");
  const override = `provider_installation {\n  dev_overrides { "okta/okta" = ${JSON.stringify(provider)} }\n  direct {}\n}\n`;
  for (const [name, text] of Object.entries({ ...files, "terraform.tfvars": variables, ".terraformrc": override })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const recorded = {
    recorded_from: "okta/okta 6.12.0 under Terraform 1.11.4",
    plan: await record("plan", ["-out=plan.bin"]),
    apply: await record("apply", ["plan.bin"]),
    second_plan: await record("plan", ["-detailed-exitcode"]),
  };
  await writeFile(join(fixtures, "requests.json"), `${JSON.stringify(recorded, null, 2)}\n`);
  for (const name of ["main.tf", "variables.tf"]) await writeFile(join(fixtures, name), files[name] ?? "");
} finally {
  proxy.close();
  await org.stop();
  await rm(folder, { recursive: true, force: true });
}

/** What the provider sends for one command; a command that fails, or a second plan with changes, rejects. */
async function record(command: string, more: readonly string[]): Promise<readonly RecordedRequest[]> {
  sent = [];
  const { stdout } = await run("terraform", [command, "-no-color", "-input=false", "-parallelism=1", ...more], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      TF_CLI_CONFIG_FILE: join(folder, ".terraformrc"),
      OKTA_API_CLIENT_ID: org.clientId,
      OKTA_API_PRIVATE_KEY: org.privateKeyPem,
      OKTA_API_PRIVATE_KEY_ID: String(org.privateKeyJwk.kid),
    },
  });
  console.info(stdout.split("\n").findLast((line) => /^(Plan|Apply|No changes)/.test(line)));
  return sent;
}
