import { describe, expect, test } from "vitest";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { obtained, type CollectedArtifacts } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  aPasswordPolicy,
  aSessionPolicy,
  aSessionRule,
  adminConsoleApp,
  evaluate,
  outcomeOf,
  set,
} from "../../support/artifact_builders.ts";

/** Values on both sides of each limit that DISA sets, and the words of a finding. */

type Judged = (field: string, value: unknown) => CollectedArtifacts;

const passwords: Judged = (field, value) => ({
  password_policies: obtained([set(aPasswordPolicy(), `settings.password.${field}`, value)]),
  apps: obtained([adminConsoleApp]),
  saml_idps: obtained([]),
});
const sessions: Judged = (field, value) =>
  sessionPolicies(set(aSessionRule(), `actions.signon.session.${field}`, value));
const console: Judged = (field, value) => ({ admin_console_settings: obtained({ [field]: value }) });

test.each<[check: string, judged: Judged, field: string, passes: readonly unknown[], fails: readonly unknown[]]>([
  ["authenticator_password_minimum_length_15", passwords, "complexity.minLength", [15, 72], [0, 14]],
  ["authenticator_password_complexity_uppercase", passwords, "complexity.minUpperCase", [1], [0, -1]],
  ["authenticator_password_complexity_lowercase", passwords, "complexity.minLowerCase", [1], [0, -1]],
  ["authenticator_password_complexity_number", passwords, "complexity.minNumber", [1], [0, -1]],
  ["authenticator_password_complexity_symbol", passwords, "complexity.minSymbol", [1], [0, -1]],
  ["authenticator_password_minimum_age_24h", passwords, "age.minAgeMinutes", [1440], [0, 24, 1439]],
  ["authenticator_password_maximum_age_60d", passwords, "age.maxAgeDays", [1, 60], [0, 61, -1]],
  ["authenticator_password_history_5", passwords, "age.historyCount", [5, 30], [0, 4]],
  ["authenticator_password_lockout_threshold_3", passwords, "lockout.maxAttempts", [1, 3], [0, 4]],
  ["authenticator_password_common_password_check", passwords, "complexity.dictionary.common.exclude", [true], [false]],
  ["signon_global_session_idle_timeout_15min", sessions, "maxSessionIdleMinutes", [1, 15], [0, 16, 15.5]],
  ["signon_global_session_lifetime_18h", sessions, "maxSessionLifetimeMinutes", [1, 1080], [0, 1081]],
  ["signon_global_session_cookies_not_persistent", sessions, "usePersistentCookie", [false], [true]],
  ["application_admin_console_session_idle_timeout_15min", console, "sessionIdleTimeoutMinutes", [1, 15], [0, 16]],
])("%s", (check, judged, field, passes, fails) => {
  const outcomes = (values: readonly unknown[]) =>
    values.map((value) => outcomeOf(evaluate(check, judged(field, value))));
  expect(outcomes(passes)).toEqual(passes.map(() => "PASS"));
  expect(outcomes([...fails, null, undefined])).toEqual([...fails, null, undefined].map(() => "FAIL"));
  expect(outcomes(["15", {}])).toEqual(["unreadable", "unreadable"]);
  expect(findCheck(check).setting?.path).toMatch(new RegExp(`(^|[.])${field}$`));
});

test("a finding names the resource, what was expected and what was found", () => {
  const policies = sessions("maxSessionIdleMinutes", 120);
  const [finding] = evaluate("signon_global_session_idle_timeout_15min", policies).findings;
  expect(finding).toMatchObject({ resource: { type: "policy", id: "00p1", name: "Default Policy" } });
  expect(finding?.expected).toMatch(/1 to 15 minutes/);
  expect(finding?.actual).toBe('120 minutes in rule "STIG rule"');
  expect(finding?.detail).toBe(`Policy "Default Policy": expected ${finding?.expected}, found ${finding?.actual}.`);
});

describe("an active one among others is enough", () => {
  const card = (status: string, name = "Card") => ({ id: `aut${name}`, key: "smart_card_idp", name, status });
  const stream = (status: unknown, name: string) => ({ id: `0oa${name}`, name, type: "aws_eventbridge", status });

  test("one active smart card authenticator is enough, and the others are named", () => {
    const result = evaluate("authenticator_smart_card_active", {
      authenticators: obtained([card("ACTIVE"), card("INACTIVE", "Old")]),
    });
    expect(outcomeOf(result)).toBe("PASS");
    expect(result.detail).toMatch(/not active: "Old"/);
  });

  test("one active log stream is enough, and one of unknown status is only advisory", () => {
    const judge = (...streams: readonly JsonObject[]) => {
      const { status, findings } = evaluate("systemlog_streaming_enabled", { log_streams: obtained(streams) });
      return [status, findings.map(({ advisory }) => advisory)];
    };
    expect(judge(stream(1, "A"), stream("ACTIVE", "B"), stream("INACTIVE", "C"))).toEqual(["PASS", [true, false]]);
    expect(judge(stream("RESTING", "A"), stream("INACTIVE", "B"))).toEqual(["MANUAL", [false]]);
    expect(judge(stream(undefined, "A"))).toEqual(["MANUAL", [false]]);
  });
});

function sessionPolicies(...rules: readonly JsonObject[]): CollectedArtifacts {
  return { global_session_policies: obtained([{ policy: aSessionPolicy(), rules: obtained(rules) }]) };
}
