import { beforeEach, describe, expect, test } from "vitest";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { decisions } from "../../../drizzle/schema.ts";
import { everyTenant, write } from "../../../drizzle/transactions.ts";
import type { Decisions } from "../../../scanner/decisions/apply_decisions.ts";
import { fetchDecisions, mergeDecisions } from "../../../scanner/decisions/decision_sources.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { rejectionOf } from "../../support/errors.ts";
import { openTestPglite } from "../../support/pglite.ts";
import { problem, startScriptedServer, type Answer } from "../../support/scripted_server.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

const check = "signon_global_session_idle_timeout_15min";
const other = "apitoken_not_super_admin";
const orgUrl = "https://acme.okta.com";
const waiver = { kind: "waiver", check, reason: "Moves in January", expires: "never" };
const attestation = { kind: "attestation", check: other, status: "PASS", reason: "Looked at it", expires: "never" };
const noFiles: Decisions = { waivers: [], attestations: [], baseline: null };

const database = await openTestPglite();
const gateway = await openTestGateway({}, { database });
beforeEach(() => write(database, everyTenant, async (db) => void (await db.delete(decisions))));

async function decide(json: object): Promise<void> {
  const as = `Bearer ${gateway.acme.token}`;
  const response = await gateway.request("/api/v1/decisions", { method: "POST", as, json });
  expect(response.status, await response.clone().text()).toBe(201);
}

async function add(files: Decisions = noFiles, url = gateway.url) {
  const access = { url, apiKey: gateway.acme.apiKey };
  const fetched = await fetchDecisions(access, orgUrl, new AbortController().signal);
  return mergeDecisions(files, fetched, { rules: stigRuleNames, nowMs: Date.now() });
}

describe("decisions of the gateway", () => {
  test("adds what holds for this organization, with who decided it and where it is kept", async () => {
    await decide({ ...waiver, resource: "00p*", expires: "2099-01-31", org_url: orgUrl });
    await decide({ ...waiver, org_url: "https://globex.okta.com" });
    await decide(attestation);
    const from = { by: "member@acme.test", source: "gateway" };
    expect(await add()).toEqual({
      warnings: [],
      decisions: {
        ...noFiles,
        waivers: [{ check, resource: "00p*", reason: "Moves in January", expires: "2099-01-31", ...from }],
        attestations: [{ check: other, status: "PASS", reason: "Looked at it", expires: null, ...from }],
      },
    });
  });

  test("a decision about this organization counts before one about every organization", async () => {
    await decide({ ...attestation, status: "FAIL", org_url: orgUrl });
    await decide(attestation);
    const { decisions: added } = await add();
    expect(added.attestations.map(({ status }) => status)).toEqual(["FAIL"]);
  });

  test("a file's own counts before it, while it holds, and both are named", async () => {
    await decide({ ...waiver, resource: "00p1" });
    await decide(attestation);
    const file = { check, resource: "00p1", reason: "of the file", expires: null };
    const attested = { check: other, status: "PASS" as const, reason: "of the file", by: "A. Person", expires: null };
    const files = { ...noFiles, waivers: [file], attestations: [attested] };
    expect(await add(files)).toEqual({
      decisions: files,
      warnings: [
        "The attestation of V-279690 by member@acme.test at the gateway is ignored: --decisions has its own",
        'The waiver of V-273186 for "00p1" by member@acme.test at the gateway is ignored: --decisions has its own',
      ],
    });
    const past = { ...file, expires: "2020-01-31" };
    expect((await add({ ...noFiles, waivers: [past] })).decisions.waivers).toHaveLength(2);
    const { decisions: added } = await add({ ...noFiles, attestations: [{ ...attested, expires: "2020-01-31" }] });
    expect(added.attestations).toMatchObject([{ expires: "2020-01-31" }, { source: "gateway" }]);
    const plan = { check, resource: "00p1", reason: "of the file", remediation_date: "2099-01-31" };
    expect((await add({ ...noFiles, waivers: [plan] })).decisions.waivers).toHaveLength(2);
  });

  test("a decision on a check that this scanner does not know is named and ignored", async () => {
    await decide({ ...waiver, check: "no_such" });
    expect(await add()).toEqual({
      decisions: noFiles,
      warnings: [
        'The waiver of no_such by member@acme.test at the gateway is ignored: unknown rule "no_such": this scan does not know it',
      ],
    });
  });
});

const json =
  (body: object): Answer =>
  (response) =>
    void response.end(JSON.stringify(body));

test.each<[string, Answer, RegExp]>([
  ["a gateway that refuses the key", problem(401, "The API key is not valid"), /--decisions-from-gateway: 401 /],
  ["another server", json({}), /does SCANSTREAM_URL name a scanstream gateway/],
  [
    "a decision whose end cannot be read",
    json({
      items: [{ ...waiver, resource: null, status: null, by: "ada", org_url: null, expires: "next year" }],
      next_cursor: null,
    }),
    /it has an unexpected form/,
  ],
])("%s: nothing is scanned without the decisions", async (_, answer, message) => {
  await using server = await startScriptedServer(answer);
  const { message: said } = await rejectionOf(UsageError, add(noFiles, new URL(server.url).origin));
  expect(said).toMatch(message);
});
