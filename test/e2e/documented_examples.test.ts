import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Report } from "../../shared/report.ts";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import { runCommand } from "../support/command_line.ts";
import { openOrgStage, type OrgStage } from "../support/org_stage.ts";
import { documentedLines, documentText, fencedAfter } from "../support/documented_commands.ts";

/** What every command of the documents does, each as it stands there: its exit code and the line that says why. */

type Outcome = { readonly code: number; readonly says: RegExp } | { readonly in: string };

const outcomes: Readonly<Record<string, Outcome>> = {
  checks: { code: 0, says: /V-273186/ },
  doctor: { code: 0, says: /of 29 rules can be decided/ },
  "doctor -v": { code: 0, says: /GET \/api\/v1/ },
  scan: { code: 1, says: /CAT II: \d+ open/ },
  "scan --verbose": { code: 1, says: /global_session_policies/ },
  "scan --checklist okta.cklb --waivers decisions.json --format all --output report": { code: 1, says: /waive/ },
  "scan --checklist okta.cklb --format cklb,ckl --output report": { code: 1, says: /fail/i },
  "collect --save-artifacts evidence.json": { code: 0, says: /evidence\.json/ },
  "evaluate --from-artifacts evidence.json --format json,cklb,html --output report": { code: 1, says: /fail/i },
  "fix --from-artifacts evidence.json --output fixes": { code: 0, says: /fixes/ },
  "explain V-279693 --from-artifacts evidence.json": { code: 0, says: /Okta evaluates these rules in this order/ },
  "fix --output fixes --only 9b23c2a6313d": { code: 0, says: /1 failing finding is in the plan: 1 object imported/ },
  "collect --save-artifacts evidence.json --sign scanner.key": { in: "test/e2e/signing.test.ts" },
  "evaluate --from-artifacts evidence.json --format json,cklb --output report --sign scanner.key": {
    in: "test/e2e/signing.test.ts",
  },
  "scan --benchmark okta-idaas-stig-v1r1 --format json,ckl --output report": { in: "test/e2e/stig.test.ts" },
  "explain V-273186 --benchmark okta-idaas-stig-v1r1": { in: "test/e2e/stig.test.ts" },
  "scan --checklist report/scan.ckl --format ckl --output next": { in: "test/e2e/stig.test.ts" },
  "fix --output fixes": { in: "test/e2e/fix.test.ts" },
  "scan --org acme": { in: "test/e2e/organizations.test.ts" },
  "scan --org acme,acme-gov --parallel 2 --output tonight": { in: "test/e2e/organizations.test.ts" },
  "scan --format json --output evidence/today --fail-on never": { in: "test/e2e/history.test.ts" },
  "scan --decisions-from-gateway": { in: "test/e2e/decisions.test.ts" },
  "evaluate --from-artifacts evidence.json --output after --format json,table --fail-on fail:high --threshold threshold.yaml --parameters parameters.json --checks rules.json":
    { in: "test/e2e/company_rules.test.ts" },
  "diff before/scan.json after/scan.json": { in: "test/e2e/company_rules.test.ts" },

  // In this order, against one gateway without scans.
  "decisions list": { code: 0, says: /^Nothing found$/m },
  'decisions waive apitoken_not_super_admin --resource "ci-*" --reason "ends in January" --expires 2027-01-31': {
    code: 0,
    says: /ci-\*/,
  },
  'decisions attest systemlog_streaming_enabled --status PASS --reason "seen in the SIEM"': {
    code: 0,
    says: /systemlog_streaming_enabled/,
  },
  "decisions withdraw 9b2f5f1c-3c51-4a8e-9a55-1f0d3a7c2e64": { code: 2, says: /404 No such decision/ },
  "members list": { code: 0, says: /^SUB +ROLE +CREATED$/m },
  "members remove ann@acme.example": { code: 2, says: /404 No such member/ },
  'keys create "nightly scan" --scopes publish --expires-at 2099-01-31T00:00:00Z': { code: 0, says: /scs_/ },
  "keys list": { code: 0, says: /nightly scan/ },
  "audit list --limit 20": { code: 0, says: /api_key\.created/ },
  "webhooks add https://hooks.example/scanstream --events scan.end,finding.created": { code: 0, says: /whsec_/ },
  "webhooks list": { code: 0, says: /https:\/\/hooks\.example\/scanstream/ },
  "report --latest --format markdown": { code: 2, says: /no scan/i },
  "report 7c9e6679-7425-40de-944b-e07fc1f90ae7 --format html,cklb,csv --output reports": {
    code: 2,
    says: /404 No such scan/,
  },
  "stig list": { code: 0, says: /^okta-idaas-stig-v1r2 .*29 rules/m },

  'webhooks add "$SLACK_WEBHOOK_URL" --events finding.created,monitor.error --slack': {
    in: "test/gateway/features/webhooks",
  },
  "webhooks deliveries ID --status dead": { in: "test/e2e/webhooks.test.ts" },
  "webhooks replay ID DELIVERY_ID": { in: "test/e2e/webhooks.test.ts" },
};

/** The commands of a scan and of a gateway's users; those that start, sign or set up something have a test of their page. */
const documentedCommand =
  /(?:^|\s)(?:\S*scanstream|scanstream --) ((?:scan|collect|evaluate|diff|doctor|checks|explain|fix|decisions|members|keys|audit|webhooks|report|stig list)(?: .*)?)$/;

/** Every other line of a shell example: the test that runs it with its outcome, or why none does. */
const others: readonly (readonly [line: RegExp, by: string])[] = [
  [/^docs\/cli\.md .*scanstream completion /, "test/e2e/completion.test.ts"],
  [/^docs\/clients\.md npm run -s conformance /, "test/e2e/conformance.test.ts"],
  [/^docs\/clients\.md curl /, "a client without dependencies; bench/clients.md has its result"],
  [/^docs\/deploy\.md (?:export CONFORMANCE_|npm run conformance)/, "test/e2e/gateway_conformance.test.ts"],
  [/^docs\/deploy\.md (?:export DATABASE_URL|npm run scanstream -- (?:migrate|admin) ?)/, "test/e2e/footprint.test.ts"],
  [/^docs\/deploy\.md (?:npx wrangler|for name|done)/, "needs an account at Cloudflare"],
  [/^docs\/deploy\.md npm run build:web && npm run start:deno/, "test/edge/deno.test.ts"],
  [/^docs\/(?:deploy|install)\.md (?:npm install|HOST=|npm ci && npm pack|mkdir)/, "test/tools/package.test.ts"],
  [/^README\.md (?:npm ci && npm pack|mkdir)/, "test/tools/package.test.ts"],
  [/^docs\/install\.md (?:npm ci && npm run build:executable|\(cd executables)/, "test/e2e/executable.test.ts"],
  [/^docs\/\w+\.md docker /, "needs a container runtime; test/deploy/files.test.ts reads the files"],
  [/^docs\/features\.md npm run new /, "test/tools/new.test.ts"],
  [/npm run (?:check|test:fast)$/, "runs the tests themselves"],
  [/^(?:README|CONTRIBUTING)\.md npm (?:install && npm test|ci)$/, "runs the tests themselves"],
  [/^\S+ (?:npm install && )?npm start$/, "test/e2e/start.test.ts"],
  [/^docs\/fips\.md npm run fips$/, "builds OpenSSL: a part of npm run test:nightly"],
  [/^docs\/fix\.md (?:scanstream practice-org|set -a)/, "test/e2e/fix.test.ts"],
  [/^docs\/history\.md scanstream (?:follow|history) /, "test/e2e/history.test.ts"],
  [/^docs\/keeping\.md .*scanstream admin tenant /, "test/e2e/report.test.ts"],
  [/^docs\/load\.md .*npm run -s load /, "test/e2e/load.test.ts"],
  [/^docs\/operate\.md (?:for name|echo|chmod|helm)/, "test/deploy/files.test.ts"],
  [/^docs\/performance\.md /, "measures for two hours"],
  [/^docs\/revisions\.md scanstream stig /, "test/e2e/stig.test.ts"],
  [/^(?:docs\/setup|README)\.md (?:scanstream (?:setup|practice-org)|export IDP_)/, "test/e2e/setup.test.ts"],
  [/^(?:README|docs\/follow)\.md scanstream follow$/, "test/e2e/follow_command.test.ts"],
  [/^docs\/sign_in\.md (?:AUTH|OIDC)_/, "test/web/issuer_sign_in.test.ts"],
  [/^docs\/signing\.md (?:scanstream (?:keygen|verify|package)|openssl)/, "test/e2e/signing.test.ts"],
  [/^SECURITY\.md /, "nothing is released yet"],
];

let stage: OrgStage;
let gateway: CommandGateway;

beforeAll(async () => {
  [stage, gateway] = await Promise.all([openOrgStage(), startCommandGateway()]);
  const ci = await documentText("docs/ci.md");
  await write("decisions.json", fencedAfter(ci, "`--waivers waivers.json`", "json"));
  await write("attestations.json", fencedAfter(ci, "`--attestations attestations.json`", "json"));
  await run("scan", "--save-artifacts", "evidence.json", "--format", "cklb", "--output", "first");
  await copyFile(join(stage.path, "first/scan.cklb"), join(stage.path, "okta.cklb"));
});

afterAll(() => Promise.all([stage[Symbol.asyncDispose](), gateway[Symbol.asyncDispose]()]));

function write(name: string, text: string): Promise<void> {
  // The documents' dates are in the past one day.
  return writeFile(join(stage.path, name), text.replace(/"expires": "20\d\d/, '"expires": "2099'));
}

const run = (...args: readonly string[]) => stage.run(...args);

test("every line of the documents has its outcome here, the test that runs it, or a reason why none does", async () => {
  const lines = (await documentedLines()).map(({ file, text }) => `${file} ${text.replaceAll(/\s+/g, " ")}`);
  const commandOf = (line: string) => documentedCommand.exec(line)?.[1];
  const found = lines.flatMap((line) => commandOf(line) ?? []);
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(outcomes).toSorted());
  const rest = lines.filter((line) => commandOf(line) === undefined);
  expect(rest.filter((line) => !others.some(([pattern]) => pattern.test(line)))).toEqual([]);
  expect(others.filter(([pattern]) => !rest.some((line) => pattern.test(line)))).toEqual([]);
  const tests = [
    ...others.map(([, by]) => by),
    ...Object.values(outcomes).flatMap((of) => ("in" in of ? [of.in] : [])),
  ];
  const paths = tests.filter((by) => by.startsWith("test/"));
  expect(paths.filter((path) => !existsSync(join(import.meta.dirname, "../..", path)))).toEqual([]);
});

test.each(Object.entries(outcomes).filter(([, outcome]) => "code" in outcome))("%s", async (command, outcome) => {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const usesGateway = /^(?:decisions|members|keys|audit|webhooks|report)\b/.test(command);
  const { code, stdout, stderr } = await (usesGateway
    ? runCommand(words, { cwd: gateway.folder, env: gateway.env })
    : run(...words));
  if (!("code" in outcome)) return;
  expect(`${stdout}${stderr}`).toMatch(outcome.says);
  expect(code, stderr).toBe(outcome.code);
});

test("the waiver of docs/ci.md accepts the finding that it names, and no other", async () => {
  const findings = await findingsWith("--waivers", "decisions.json");
  const waived = findings.filter((finding) => finding.waived);
  expect(waived.map(({ status, resource }) => [status, resource.name])).toEqual([["FAIL", "CI"]]);
});

test.each([
  ["without", [], 1, "not_reviewed"],
  ["with", ["--attestations", "attestations.json"], 0, "not_a_finding"],
])("%s the attestation of docs/ci.md an org without a log stream", async (_, options, exitCode, status) => {
  const document = JSON.parse(await readFile(join(stage.path, "evidence.json"), "utf8")) as {
    artifacts: Record<string, unknown>;
  };
  document.artifacts["log_streams"] = { state: "obtained", value: [] };
  await write("silent.json", JSON.stringify(document));
  const check = ["--check", "systemlog_streaming_enabled", "--fail-on", "manual"];
  const output = ["--format", "cklb", "--output", "attested"];
  const { code, stderr } = await run("evaluate", "--from-artifacts", "silent.json", ...check, ...output, ...options);
  expect([code, stderr]).toEqual([exitCode, stderr]);
  const checklist = await readFile(join(stage.path, "attested/scan.cklb"), "utf8");
  const { stigs } = JSON.parse(checklist) as { stigs: { rules: { group_id: string; status: string }[] }[] };
  expect(stigs[0]?.rules.find(({ group_id: rule }) => rule === "V-273202")?.status).toBe(status);
});

async function findingsWith(...options: readonly string[]) {
  const { stdout } = await run("evaluate", "--from-artifacts", "evidence.json", "--format", "json", ...options);
  return (JSON.parse(stdout) as Report).checks.flatMap(({ findings }) => findings);
}
