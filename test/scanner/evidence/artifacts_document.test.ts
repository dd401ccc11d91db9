import { describe, expect, test } from "vitest";
import { missing, obtained } from "../../../scanner/evidence/artifacts.ts";
import { artifactsSchema, parseArtifacts } from "../../../scanner/evidence/artifacts_document.ts";
import { ContentError } from "../../../shared/usage_error.ts";
import { compliantArtifacts, dodCertificate, set } from "../../support/artifact_builders.ts";
import { thrownBy } from "../../support/errors.ts";
import { aScan } from "../../support/report_builders.ts";

const document = {
  schema: artifactsSchema,
  scan: aScan(),
  evaluated_at: "2026-11-21T12:00:00.000Z",
  checks: ["systemlog_streaming_enabled"],
  artifacts: compliantArtifacts(),
} as const;
const saved = JSON.stringify(document);

describe("a saved file", () => {
  test("is read as it was written", () => {
    expect(parseArtifacts(saved)).toEqual(JSON.parse(saved));
  });

  test("keeps what is known about an id that is called as a key of every object is", () => {
    const roles = { login: null, roles: obtained([{ id: "r", type: "SUPER_ADMIN" }]), groups: null };
    const owners = obtained(Object.fromEntries(["__proto__", "constructor", "prototype"].map((id) => [id, roles])));
    const artifacts = { api_token_owners: owners };
    const file = JSON.stringify({ ...document, artifacts });
    expect(JSON.stringify(parseArtifacts(file).artifacts)).toBe(JSON.stringify(artifacts));
  });

  test("may hold a part of the artifacts, and what is missing with its reason", () => {
    const artifacts = {
      apps: missing("provider_error", "page 2 failed", [{ id: "0oa1" }]),
      admin_console_app: missing<never>("missing_scope", "apps.read"),
      smart_card_idps: obtained([{ idp: {}, certificate: obtained(null) }]),
      global_session_policies: obtained([{ policy: {}, rules: null }]),
    };
    const text = JSON.stringify({ ...document, artifacts });
    expect(parseArtifacts(text).artifacts).toEqual(artifacts);
  });

  test("a saved file of a later version may hold unknown artifacts", () => {
    const text = JSON.stringify(set({ ...document }, "artifacts.future_things", { state: "whatever" }));
    expect(parseArtifacts(text).artifacts).not.toHaveProperty("future_things");
  });

  test("a saved time in another zone is the same time", () => {
    const text = JSON.stringify({ ...document, evaluated_at: "2026-11-21T13:00:00+01:00" });
    expect(parseArtifacts(text).evaluated_at).toBe("2026-11-21T12:00:00.000Z");
  });
});

describe("another file is refused with what is wrong with it", () => {
  const broken = (path: string, value: unknown) => JSON.stringify(set({ ...document }, path, value));

  test.each<[text: string, message: string]>([
    [" \n", "the file is empty"],
    [saved.slice(0, saved.length / 2), "the file is cut short"],
    ["[]", 'it names no schema; expected "scanstream.artifacts/1.1"'],
    ['{"schema":"scanstream.report/1"}', 'its schema is "scanstream.report/1"; expected "scanstream.artifacts/1.1"'],
    [broken("schema", "scanstream.artifacts/2"), 'its schema is "scanstream.artifacts/2"'],
    [broken("scan.org_url", "acme"), '"scan.org_url" is "acme", and should be a URL'],
    [broken("evaluated_at", "today"), '"evaluated_at" is "today", and should be a time as in'],
    [
      broken("artifacts.apps", { state: "missing", reason: "needs_review", detail: "", partial: null }),
      '"artifacts.apps.reason" is "needs_review", and should be a known reason',
    ],
    [broken("artifacts.apps", obtained("all")), '"artifacts.apps.value" is "all", and should be a list'],
    [broken("artifacts.apps", obtained(["a"])), '"artifacts.apps.value.0" is "a", and should be an object'],
    [broken("artifacts.app_policy_rules", obtained({ rst1: [] })), '"artifacts.app_policy_rules.value.rst1'],
    // One without a beginning would pass as valid.
    [
      broken(
        "artifacts.smart_card_idps",
        obtained([{ idp: {}, certificate: obtained({ ...dodCertificate, valid_from: "" }) }]),
      ),
      "valid_from",
    ],
  ])("text %#", (text, message) => {
    expect(thrownBy(ContentError, () => parseArtifacts(text)).message).toContain(message);
  });

  test("a refusal never shows the whole file", () => {
    const text = broken("scan.org_url", "x".repeat(100_000));
    expect(thrownBy(ContentError, () => parseArtifacts(text)).message.length).toBeLessThan(200);
  });
});
