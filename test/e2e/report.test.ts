import { callCommand } from "../support/called_command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportUpload } from "../support/report_builders.ts";
import { temporaryFolder, type Outcome } from "../support/command_line.ts";
import { createProducer, type Producer } from "../support/producers.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** `report` of scans that a gateway keeps. */

let gateway: TestGateway;
let producer: Producer;
const folder = await temporaryFolder();
beforeAll(async () => {
  gateway = await startTestGateway();
  producer = createProducer(gateway.url, gateway.acme.apiKey);
});
afterAll(() => Promise.all([gateway.stop(), folder[Symbol.asyncDispose]()]));

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, { cwd: folder.path, env: gateway.env });
}

async function scanWithReport(): Promise<string> {
  const { id } = await producer.register({ org_url: "https://acme.okta.com" });
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const response = await gateway.request(`/api/v1/scans/${id}/report`, { ...reportUpload(id), as });
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
