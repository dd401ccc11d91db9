import { callCommand } from "../support/called_command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportUpload } from "../support/report_builders.ts";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import { temporaryFolder, type Outcome } from "../support/command_line.ts";
import { createScanProducer, type ScanProducer } from "../support/scan_producer.ts";

/** `report` and `admin tenant …` against a gateway that keeps a tenant's scans. */

let gateway: CommandGateway;
let producer: ScanProducer;
beforeAll(async () => {
  gateway = await startCommandGateway();
  producer = createScanProducer(gateway.env["SCANSTREAM_URL"] ?? "", gateway.env["SCANSTREAM_API_KEY"] ?? "");
});
afterAll(() => gateway[Symbol.asyncDispose]());

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, { cwd: gateway.folder, env: gateway.env });
}

async function scanWithReport(): Promise<string> {
  const { id } = await producer.register({ org_url: "https://acme.okta.com" });
  const upload = reportUpload(id);
  const response = await fetch(`${gateway.env["SCANSTREAM_URL"]}/api/v1/scans/${id}/report`, {
    ...upload,
    headers: { ...upload.headers, authorization: `Api-Key ${gateway.env["SCANSTREAM_API_KEY"]}` },
  });
  if (!response.ok) throw new Error(await response.text());
  return id;
}

describe("report", () => {
  test("writes one format to stdout, a table unless another is named", async () => {
    const id = await scanWithReport();
    const table = await run("report", "--latest");
    expect(table.code).toBe(0);
    expect(table.stdout).toContain("V-273186");
    const json = await run("report", id, "--format", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({ scan: { id } });
  });

  test("says what is wrong in one line, and writes nothing", async () => {
    const { id } = await producer.register({});
    const cases = [
      [["report", id], /^Cannot read the report: 404 No report was uploaded for this scan\n$/],
      [["report", "x"], /^Cannot read the run, file or scan id "x": no such file/],
      [["report"], /^IDP_ORG_URL is not set/],
      [["report", id, "--format", "html,csv"], /several formats need --output DIR/],
    ] as const;
    for (const [args, problem] of cases) {
      const { code, stdout, stderr } = await run(...args);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(problem);
    }
  });
});

describe("admin tenant", () => {
  /** Lines of `name: value`. */
  const valueOf = ({ stdout }: Outcome, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(stdout)?.[1] ?? "";

  test("renames, exports and deletes a tenant while no gateway has the database open", async () => {
    await using folder = await temporaryFolder();
    const admin = (...args: readonly string[]) => callCommand(["admin", ...args], { cwd: folder.path });
    const id = valueOf(await admin("tenant", "create", "--name", "Acme 1"), "id");
    const renamed = await admin("tenant", "rename", "--tenant", id, "--name", "Acme", "--format", "json");
    expect(JSON.parse(renamed.stdout)).toEqual({ id, name: "Acme" });
    await admin("api-key", "create", "--tenant", id, "--name", "ci");
    const exported = await admin("tenant", "export", "--tenant", id);
    expect(exported, exported.stderr).toMatchObject({ code: 0, stderr: "" });
    const lines = exported.stdout.trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ schema: "scanstream.export/1", tenant_id: id, name: "Acme" });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ end: true, rows: { api_keys: 1 } });
    const wrong = await admin("tenant", "delete", "--tenant", id, "--confirm", "another");
    expect(wrong).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining('the tenant\'s name, "Acme"') });
    const deleted = await admin("tenant", "delete", "--tenant", id, "--confirm", "Acme");
    expect(deleted).toMatchObject({ code: 0, stdout: `id: ${id}\nname: Acme\ndeleted: true\n` });
    const none = await admin("tenant", "export", "--tenant", id);
    expect(none).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("no tenant has the id") });
  });
});
