import { generateKeyPairSync } from "node:crypto";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { readSigner, readVerifier, type Signer } from "../../../scanner/signing/keys.ts";
import { makeStatement, signStatement, type Statement } from "../../../scanner/signing/statement.ts";
import { verifyPath } from "../../../scanner/signing/verify.ts";
import { causesOf } from "../../../scanner/causes/causes.ts";
import { sha256 } from "../../../scanner/digest.ts";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import record from "../../fixtures/signed/accepted.json" with { type: "json" };
import predicateSchema from "../../../shared/predicate.schema.json" with { type: "json" };
import type { CheckResult, Report } from "../../../shared/report.ts";
import { summarizeChecks } from "../../../shared/rule_result.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { writeKeyPair } from "../../support/key_pair.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { aReport, renderAs } from "../../support/report_builders.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

const folder = await ownFolder();
const { results, document, status } = await scanPracticeOrg(await startOrg());
const evidence = JSON.stringify(document);
const report: Report = {
  ...aReport(results),
  benchmark: builtIn.benchmark.id,
  scan: { ...aReport().scan, ...document.scan, status },
  causes: causesOf(results, document.artifacts),
};
const written = { "scan.ckl": renderAs("ckl", report), "scan.cklb": renderAs("cklb", report) };
const keys = {
  signer: await newKey("one"),
  other: await newKey("other"),
  verifier: await readVerifier({ option: "--key", file: path("one.pub") }),
};

function path(name: string): string {
  return join(folder, name);
}

async function newKey(name: string): Promise<Signer> {
  await writeKeyPair(path(name));
  const signer = await readSigner({ option: "--sign", file: path(name) }, null);
  if (signer === null) throw new TypeError("expected a key");
  return signer;
}

function statementOf(files: Readonly<Record<string, string>>): Statement {
  const subjects = Object.entries(files).map(([name, content]) => ({ name, content }));
  const judged = { revision: builtIn, evidence: sha256(evidence), orgPolicy: null };
  return makeStatement(subjects, { scan: report.scan, report, toolVersion: "1.2.3", ...judged });
}

interface Forgery {
  readonly files?: Readonly<Record<string, string>>;
  readonly statement?: (statement: Statement) => Statement;
  readonly envelope?: (text: string) => string;
  readonly signer?: Signer;
}

/** A folder with a report, its evidence and their statement, each as changed. */
async function signed({
  files: changed = {},
  statement = (given) => given,
  envelope = (text) => text,
  signer = keys.signer,
}: Forgery = {}): Promise<string> {
  const place = await ownFolder();
  const files = { "scan.json": JSON.stringify(report), "evidence.json": evidence, ...written, ...changed };
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
  await writeFile(join(place, "scan.intoto.json"), envelope(signStatement(statement(statementOf(files)), signer)));
  return place;
}

type Subject = Statement["subject"][number];

function stating(change: Partial<Statement["predicate"]>): Forgery {
  return { statement: (given) => ({ ...given, predicate: { ...given.predicate, ...change } }) };
}

const nothing = { orgUrl: null, since: null, revision: builtIn };

test("what was signed holds, and its evidence gives the same findings; a file beside it is named", async () => {
  const place = await signed();
  await writeFile(join(place, "notes.txt"), "mine");
  await mkdir(join(place, "old"));
  const lines = await verifyPath(place, keys.verifier, {
    ...nothing,
    orgUrl: report.scan.org_url,
    since: report.scan.ended_at,
  });
  expect(lines.slice(1)).toEqual([
    "evidence.json, scan.ckl, scan.cklb, scan.json: as signed",
    "scan.json: the evidence gives the same findings",
    "scan.ckl: the same answers as scan.json",
    "scan.cklb: the same answers as scan.json",
    "Not signed: notes.txt, old",
  ]);
  expect(new Ajv2020().compile(predicateSchema)(statementOf({ a: "" }).predicate)).toBe(true);
  await rm(join(place, "evidence.json"));
  await expect(verifyPath(place, keys.verifier, nothing)).rejects.toThrow("evidence.json was signed and is not there");
});

test("a report without some rules holds, and they are named", async () => {
  const checks = report.checks.filter(({ status }) => status !== "FAIL");
  const left = report.checks.filter(({ status }) => status === "FAIL").map((check) => check.vuln_id);
  const summary = summarizeChecks(checks);
  const files = { "scan.json": JSON.stringify({ ...report, checks, summary }) };
  const lines = await verifyPath(await signed({ files, ...stating({ summary }) }), keys.verifier, nothing);
  expect(lines).toContain(`scan.json: the evidence gives the same findings; it has no result of ${left.join(", ")}`);
});

test("a report whose evidence is elsewhere holds, and says that it was not evaluated again", async () => {
  const place = await signed({
    statement: ({ subject, ...rest }) => ({ ...rest, subject: subject.filter(({ name }) => name === "scan.json") }),
  });
  await rm(join(place, "evidence.json"));
  const lines = await verifyPath(join(place, "scan.json"), keys.verifier, nothing);
  expect(lines.at(-1)).toBe("the verdicts were not evaluated again: the evidence is not there");
});

/** The report with its first FAIL changed. */
function forged(change: (check: CheckResult) => Partial<CheckResult>): string {
  const [first, ...rest] = report.checks.toSorted((one, other) => (one.status < other.status ? -1 : 1));
  if (first?.status !== "FAIL") throw new TypeError("expected a rule that fails");
  return JSON.stringify({ ...report, checks: [{ ...first, ...change(first) }, ...rest] });
}

function passing(change: Partial<CheckResult> = {}): string {
  return forged(({ findings }) => ({
    status: "PASS",
    findings: findings.map((one) => ({ ...one, status: "PASS", cause: null })),
    ...change,
  }));
}

const withPayload = (text: string, change: (payload: string) => string): string => {
  const envelope = JSON.parse(text) as { payload: string };
  const payload = Buffer.from(change(Buffer.from(envelope.payload, "base64").toString())).toString("base64");
  return JSON.stringify({ ...envelope, payload });
};

describe("a forgery is refused with its reason", () => {
  const subjects = (change: (one: Subject, index: number, all: readonly Subject[]) => Subject): Forgery => ({
    statement: (given) => ({ ...given, subject: given.subject.map(change) }),
  });
  const scanned = (json: string): Forgery => ({ files: { "scan.json": json } });
  const ofOther = JSON.stringify({ ...report, scan: { ...report.scan, org_url: "https://b.okta.com" } });
  const miscounted = JSON.stringify({ ...report, summary: { ...report.summary, fail: 0 } });
  const otherAnswer = /has another answer to V-\d+ than scan\.json gives/;
  const { "scan.ckl": ckl, "scan.cklb": cklb } = written;
  const changePayload = (text: string) => withPayload(text, (payload) => payload.replace("pass", "Pass"));

  test.each<[string, Forgery, RegExp]>([
    ["signed by another key", { signer: keys.other }, /no signature is of the key/],
    ["a changed payload", { envelope: changePayload }, /was changed/],
    [
      "duplicate keys of the envelope",
      { envelope: (text) => text.replace("{", '{"payload":"",') },
      /the envelope cannot be read/,
    ],
    ["a path as a subject", subjects((one) => ({ ...one, name: `../${one.name}` })), /is no plain file name/],
    [
      "a swapped subject",
      subjects((one, index, all) => ({ ...one, digest: all.at(index - 1)?.digest ?? one.digest })),
      /is not the file that was signed/,
    ],
    ["findings that were edited and signed again", scanned(passing()), /the evidence gives other findings of V-/],
    [
      "a rule under another name, which the evidence would not be asked about",
      scanned(passing({ check: "other" })),
      /has results of other, which is no rule of okta-idaas-stig-v1r2/,
    ],
    [
      "a rule that became less severe",
      scanned(forged(() => ({ severity: "low" }))),
      /the evidence gives other findings of V-/,
    ],
    [
      "other counts than those of its results",
      scanned(miscounted),
      /the summary of scan\.json is not that of its results/,
    ],
    [
      "a second report, of other findings",
      { files: { "second.json": passing() } },
      /the evidence gives other findings of V-\d+ than second\.json says/,
    ],
    ["another org's report", scanned(ofOther), /scan\.json is about another org or time/],
    ["a later time", stating({ ended_at: "2099-01-01T00:00:00Z" }), /\.json is about another org or time/],
    ["other counts in the statement", stating({ summary: { fail: 0 } }), /the statement has other counts than scan/],
    ["a review that nobody made", { files: { "scan.cklb": cklb.replace('"not_reviewed"', '"open"') } }, otherAnswer],
    ["a finding that a checklist leaves out", { files: { "scan.ckl": ckl.replace(/\nFAIL: .+/, "") } }, otherAnswer],
    ["a PASS as not evaluated", scanned(passing({ reason: "interrupted" })), /the evidence gives other findings/],
  ])("%s", async (_, change, reason) => {
    const place = await signed(change);
    await expect(verifyPath(place, keys.verifier, nothing)).rejects.toThrow(reason);
  });

  test("a link in place of a file, an older report, another org", async () => {
    const place = await signed();
    await rename(join(place, "scan.json"), path("elsewhere.json"));
    await symlink(path("elsewhere.json"), join(place, "scan.json"));
    await expect(verifyPath(place, keys.verifier, nothing)).rejects.toThrow("is not a regular file");
    const older = await signed();
    await expect(verifyPath(older, keys.verifier, { ...nothing, since: "2099-01-01" })).rejects.toThrow(
      "before 2099-01-01",
    );
    await expect(verifyPath(older, keys.verifier, { ...nothing, orgUrl: "https://b.okta.com" })).rejects.toThrow(
      "not about https://b.okta.com",
    );
  });
});

test("a history of another organization than the one that was signed for is refused", async () => {
  const [from, to] = ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"];
  const organizations = [{ org_url: "https://b.okta.com", rules: [] }];
  const files = {
    "history.json": JSON.stringify({ schema: "scanstream.history/1", from, to, organizations }),
  };
  const { predicate, ...others } = statementOf(files);
  const place = await signed({ files, statement: () => ({ ...others, predicate: { ...predicate, evidence: null } }) });
  await expect(verifyPath(place, keys.verifier, nothing)).rejects.toThrow(/is about https:\/\/b.okta.com/);
});

test.each([
  [
    "an RSA key",
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
    /it is a key of the kind rsa: expected a P-256 key/,
  ],
  ["another curve", generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey, /an EC key on secp384r1/],
  ["an Ed25519 key", generateKeyPairSync("ed25519").privateKey, /it is a key of the kind ed25519/],
  ["a public key", generateKeyPairSync("ed25519").publicKey, /it is a public key/],
])("%s signs nothing", async (_, key, reason) => {
  const type = key.type === "public" ? "spki" : "pkcs8";
  await writeFile(path("bad"), key.export({ type, format: "pem" } as never));
  await expect(readSigner({ option: "--sign", file: path("bad") }, null)).rejects.toThrow(reason);
});

test("a private key to verify with, an encrypted key, two variables, and a key from a variable", async () => {
  await expect(readVerifier({ option: "--key", file: path("one") })).rejects.toThrow("it is a private key");
  const options = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" } as const;
  await writeFile(path("encrypted"), generateKeyPairSync("ed25519").privateKey.export(options));
  await expect(readSigner({ option: "--sign", file: path("encrypted") }, null)).rejects.toThrow("the key is encrypted");
  const pem = await readFile(path("one"), "utf8");
  const source = { option: "SCANSTREAM_SIGNING_KEY_FILE", file: path("one") };
  await expect(readSigner(source, pem)).rejects.toThrow("are both set");
  for (const text of [pem, pem.replaceAll("\n", "\\n")]) {
    expect((await readSigner(null, text))?.keyId).toBe(keys.verifier.keyId);
  }
  expect(await readSigner(null, null)).toBeNull();
});

/** `verify_with_others.py` in the folder of the fixtures asked both, and wrote what they said. */
test("verify accepts what securesystemslib and openssl accepted, and they refused what was changed", async () => {
  const place = join(import.meta.dirname, "../../fixtures/signed/p256");
  const text = await readFile(join(place, "changes.intoto.json"));
  expect(record.p256).toEqual({
    sha256: sha256(text),
    securesystemslib: true,
    openssl: true,
    changed: { securesystemslib: false, openssl: false },
  });
  const verifier = await readVerifier({ option: "--key", file: join(place, "key.pub") });
  const lines = await verifyPath(place, verifier, nothing);
  expect(lines).toContain("changes.ndjson: as signed");
});
