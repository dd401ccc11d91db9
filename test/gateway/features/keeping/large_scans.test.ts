import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPg } from "../../../drizzle/open_databases.ts";
import { startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { createScan } from "../../../support/test_gateway.ts";

const findingsOfScan = 12_000;
const checksOfScan = 10;

// No statistics are kept in these databases, so that the planner takes a scan to be small, as it does where there are many.
describe("scans of 12,000 findings", () => {
  let gateway: KeptGateway;

  beforeAll(async () => {
    gateway = await startKeptGateway(openPg);
  });
  afterAll(() => gateway?.stop());

  const send = (method: string, path: string, json: unknown) =>
    gateway.request(path, { method, as: `Api-Key ${gateway.acme.apiKey}`, json });

  /** Its findings beyond the first `shared` are its own. */
  async function runScan(prefix: string, shared: number): Promise<number> {
    const { id } = await createScan(gateway, gateway.acme);
    await gateway.owner(
      `insert into findings (tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail)
       select $1::uuid, $2::uuid, case when n <= $4 then 'shared-' else $5 end || n, 'check-' || n % $6, 'FAIL', 'low', '', '', '', '', '', ''
       from generate_series(1, $3::integer) as n`,
      gateway.acme.id,
      id,
      findingsOfScan,
      shared,
      prefix,
      checksOfScan,
    );
    return (await send("PATCH", `/api/v1/scans/${id}`, { status: "completed" })).status;
  }

  test("are completed within the time of one statement", async () => {
    expect([await runScan("a-", 0), await runScan("b-", 11_000), await runScan("c-", 11_990)]).toEqual([200, 200, 200]);
  });

  test("are completed within the time of one statement, with a thousand attestations, of which the contradicted end", async () => {
    await gateway.owner(
      `insert into decisions (tenant_id, kind, "check", status, reason, author_kind, author_id, author_name)
       select $1::uuid, 'attestation', 'check-' || n, 'PASS', 'looked at it', 'user', 'a', 'a' from generate_series(1, 1000) as n`,
      gateway.acme.id,
    );
    expect(await runScan("d-", 0)).toBe(200);
    const ended = await gateway.owner(`select "check" from decisions where ended_reason = 'contradicted' order by 1`);
    expect(ended).toHaveLength(checksOfScan - 1);
  });
});
