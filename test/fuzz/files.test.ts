import { assert, constant, json, oneof, property, string, type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../support/any_text.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import { parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { parseAttestations } from "../../scanner/decisions/attestations.ts";
import { parseBaseline } from "../../scanner/decisions/baseline.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { applyWaivers, parseWaivers } from "../../scanner/decisions/waivers.ts";
import { parsePrivateKey, PrivateKeyError } from "../../scanner/okta/private_key.ts";
import { AppError } from "../../shared/app_error.ts";
import { fuzzed } from "./fuzzed.ts";
import { cpuMs } from "../support/cpu_ms.ts";
import { mutated } from "./wire_values.ts";

/** Files that people write: either what they say, or the module's own error that names the file. Nothing in between. */

const waivers = JSON.stringify({
  waivers: [{ check: "apitoken_not_super_admin", resource: "0*", reason: "known", expires: "2027-01-31" }],
});
const attestations = JSON.stringify({
  attestations: [{ check: "apitoken_not_super_admin", status: "PASS", by: "ann", reason: "seen", expires: null }],
});
const baseline = JSON.stringify({
  schema: "scanstream.report/1",
  scan: { id: "1" },
  checks: [
    {
      check: "apitoken_not_super_admin",
      findings: [{ status: "FAIL", resource: { type: "t", id: "1", name: "n" }, fingerprint: "f" }],
    },
  ],
});
const artifacts = JSON.stringify({ schema: "scanstream.artifacts/1", scan: {}, evaluated_at: "", artifacts: {} });

const source = { option: "--waivers", file: "decisions.json", rules: stigRuleNames };
const noisy = (text: string): Arbitrary<string> => oneof(mutated(constant(text)), json(), anyText(), constant(text));

describe.each<[string, string, (text: string) => unknown, abstract new (...args: never) => Error]>([
  ["waivers", waivers, (text) => parseWaivers(text, source), UsageError],
  [
    "attestations",
    attestations,
    (text) => parseAttestations(text, { ...source, option: "--attestations" }),
    UsageError,
  ],
  ["a baseline", baseline, (text) => parseBaseline(text, "report.json"), TypeError],
  ["saved artifacts", artifacts, parseArtifacts, AppError],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", parseKey, PrivateKeyError],
])("%s", (name, example, parse, ErrorClass) => {
  test(`${name}: is read or refused by its own error, in bounded words`, () => {
    assert(
      property(noisy(example), (text) => {
        try {
          parse(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ErrorClass);
          expect((error as Error).message).toMatch(/^[A-Z]/);
          expect((error as Error).message.length).toBeLessThan(2000);
        }
      }),
      fuzzed(400),
    );
  });
});

test("a waiver waives what its text says, and no text brings regular expressions down", () => {
  const finding = {
    status: "FAIL" as const,
    reason: null,
    resource: { type: "token", id: "id", name: "a/b" },
    expected: "",
    actual: "",
    detail: "",
    fingerprint: "f",
    waived: false,
    change: null,
  };
  assert(
    property(string({ unit: "grapheme", minLength: 1, maxLength: 60 }), (resource) => {
      const entry = { check: "apitoken_not_super_admin", reason: "x", resource: `${resource}zz`, expires: null };
      const results = [{ check: entry.check, findings: [finding] }] as unknown as Parameters<typeof applyWaivers>[0];
      const startedMs = cpuMs();
      const { results: after } = applyWaivers(results, [entry], 0);
      expect(cpuMs() - startedMs).toBeLessThan(200);
      expect(after[0]?.findings[0]?.status).toBe("FAIL");
    }),
    fuzzed(300),
  );
});

function parseKey(text: string): unknown {
  return parsePrivateKey(text, { keyId: null });
}
