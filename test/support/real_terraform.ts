import { execFile } from "node:child_process";
import { createServer, request, type Server } from "node:http";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

/** The address of the org for the provider, which knows no other port. */
export const orgUrl = "http://127.0.0.1";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

export interface CommandRun {
  /** The last line that says what is planned or was applied. */
  readonly summary: string;
  readonly requests: readonly RecordedRequest[];
}

/** A folder in which Terraform and the real provider work on one practice org. */
export interface RealTerraform extends AsyncDisposable {
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  read(name: string): Promise<string>;
  /** Rejects where the command fails. */
  run(command: string, ...options: readonly string[]): Promise<CommandRun>;
}

const run = promisify(execFile);

/**
 * Needs `terraform` in PATH, the folder of a `terraform-provider-okta` of version 6.12.0 in OKTA_PROVIDER_DIR (`go build` of
 * its tag), and the right to listen on port 80.
 */
export async function startTerraform(org: PracticeOrg): Promise<RealTerraform> {
  const provider = process.env["OKTA_PROVIDER_DIR"];
  if (provider === undefined) throw new RangeError("OKTA_PROVIDER_DIR: expected the folder of terraform-provider-okta");
  const { terraform } = org;
  if (terraform === null) throw new RangeError("expected a practice org that takes writes");
  const sent: RecordedRequest[] = [];
  const proxy = await startProxy(org, sent);
  const folder = await mkdtemp(join(tmpdir(), "scanstream-terraform-"));
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  };
  const override = `provider_installation {\n  dev_overrides { "okta/okta" = ${JSON.stringify(provider)} }\n  direct {}\n}\n`;
  await write({ ".terraformrc": override, "terraform_key.pem": terraform.privateKeyPem });
  return {
    folder,
    write,
    read: (name) => readFile(join(folder, name), "utf8"),
    async run(command, ...options) {
      const first = sent.length;
      const { stdout } = await run("terraform", [command, "-no-color", "-input=false", "-parallelism=1", ...options], {
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          ...process.env,
          TF_CLI_CONFIG_FILE: join(folder, ".terraformrc"),
          OKTA_API_CLIENT_ID: terraform.clientId,
          OKTA_API_PRIVATE_KEY: join(folder, "terraform_key.pem"),
          OKTA_API_PRIVATE_KEY_ID: String(terraform.privateKeyJwk.kid),
        },
      });
      const summary = stdout.split("\n").findLast((line) => /^(Plan|Apply|No changes)/.test(line)) ?? "";
      return { summary, requests: sent.slice(first) };
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
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
