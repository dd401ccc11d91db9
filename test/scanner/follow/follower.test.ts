import { aDocument } from "../../support/org_policy_builder.ts";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { followDecisions } from "../../../scanner/decisions/followed_decisions.ts";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { loadState } from "../../../scanner/follow/follow_state.ts";
import { selectChecks } from "../../../scanner/catalog/select_checks.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { setUpOrg, startFollower } from "./followed_org.ts";

const fips = "authenticator_okta_verify_fips_compliant";

describe("a follower", () => {
  it("writes the first state once, and nothing while nothing changes", async () => {
    const { started, follower } = await startFollower();
    expect(follower.said).toEqual([]);
    expect(new Set(follower.lines.map(({ check }) => check)).size).toBe(catalog.length);
    expect(follower.lines.every(({ from, cause }) => from === null && cause === "start")).toBe(true);
    for (let look = 0; look < 3; look++) {
      const { lines, requests } = await follower.after();
      expect(lines).toEqual([]);
      expect(requests).toHaveLength(1);
      expect(requests[0]).toContain("/api/v1/logs?");
    }
    expect(await follower.stop()).toBe("interrupted");
    expect(follower.calls.at(-1)).toBe("stopped");
    const again = await started();
    expect(again.lines).toEqual([]);
    expect(again.calls[0]).toBe(follower.calls[0]);
  });

  it("writes a verdict that moved, with who moved it, and collects only what the event touches", async () => {
    const { org, follower } = await startFollower();
    org.change("fips-off", "dana@practice.example");
    const { lines, requests } = await follower.after();
    expect(lines).toMatchObject([
      {
        schema: "scanstream.change/1",
        org_url: org.url,
        monitor_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        rule: { status: "FAIL", reason: null, severity: "medium" },
        check: fips,
        from: { status: "PASS", reason: null },
        to: { status: "FAIL", reason: null },
        cause: "log",
        explained_by: [
          {
            event_type: "security.authenticator.lifecycle.update",
            actor: { login: "dana@practice.example", name: "Dana Duty", type: "User" },
          },
        ],
      },
    ]);
    expect(lines[0]?.explained_by[0]).not.toHaveProperty("ip_address");
    expect(requests.filter((path) => !path.startsWith("/api/v1/logs"))).toEqual(["/api/v1/authenticators"]);
    expect(follower.looks.at(-1)).toMatchObject({ log_status: "reading", error_code: null, fail: 1 });
  });

  it("reads one app of many again, and nothing for the membership of somebody who owns no token", async () => {
    const { org, follower } = await startFollower({}, { profile: { name: "large", appCount: 450 } });
    const write = (eventType: string, ...targets: readonly ReturnType<typeof targetOf>[]) =>
      org.writeEvents([{ eventType, displayMessage: "", targets }]);
    const [app] = follower.lines.flatMap(({ resource }) => (resource.id.startsWith("0oa") ? [resource.id] : []));
    write("group.user_membership.add", targetOf("00unobody", "User"), targetOf("00gnone", "UserGroup"));
    write("policy.evaluate_sign_on", targetOf("00p1", "PolicyEntity"));
    write("application.lifecycle.update", targetOf(app ?? "", "AppInstance"));
    const { requests } = await follower.after();
    const settings = "/api/v1/first-party-app-settings/admin-console";
    expect(requests.filter((path) => !path.startsWith("/api/v1/logs") && path !== settings)).toEqual([
      `/api/v1/apps/${app}`,
    ]);
  });

  it("writes a waiver that lapses as a change of result, which --fail-on counts", async () => {
    const { org, started, time } = await setUpOrg();
    org.change("fips-off");
    const expires = new Date(time.clock.nowMs() + 60_000).toISOString();
    const file = join(await ownFolder(), "decisions.json");
    await writeFile(file, JSON.stringify([{ check: fips, reason: "accepted", by: "A. Person", expires }]));
    const given = { file: { option: "--decisions", file }, fetch: null, rules: stigRuleNames };
    const options = { ...given, say: () => undefined, nowMs: time.clock.nowMs() };
    const follower = await started({
      decisions: await followDecisions(options),
      failOn: parseFailOn("fail"),
    });
    expect(follower.lines.filter(({ check }) => check === fips)).toMatchObject([
      { cause: "start", to_waived: true, waiver_by: "A. Person", waiver_expires: expires },
    ]);
    const [verdict, waived] = [
      { status: "FAIL", reason: null },
      { from_waived: true, to_waived: false },
    ];
    expect((await follower.after(60_001)).lines).toMatchObject([
      { check: fips, from: verdict, to: verdict, ...waived, waiver_by: null, cause: "decision", explained_by: [] },
    ]);
    expect(await follower.finished).toBe("failed");
  });

  it("writes a line again with its id where it was killed before it could know that it was written", async () => {
    const { org, directory, start } = await setUpOrg();
    await start({ once: true }).finished;
    org.change("fips-off");
    const second = start({ once: true });
    await second.finished;
    // As between the two writes of the round.
    const path = join(directory, "state.json");
    const saved = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...saved, pending: [], unwritten: second.lines }));
    const third = start({ once: true });
    await third.finished;
    expect(third.lines).toEqual(second.lines);
    const fourth = start({ once: true });
    await fourth.finished;
    expect(fourth.lines).toEqual([]);
  });

  it("ends what it knew of checks that it follows no more, and begins anew by another revision of the STIG", async () => {
    const { start } = await setUpOrg();
    await start({ once: true }).finished;
    const checks = selectChecks({ check: [fips] });
    const fewer = start({ once: true, checks });
    await fewer.finished;
    expect(new Set(fewer.lines.map(({ check }) => check)).size).toBe(catalog.length - 1);
    const severityOf = (check: string) => catalog.find(({ name }) => name === check)?.rule.severity;
    for (const { check, to, rule } of fewer.lines)
      expect([to, rule]).toEqual([null, { status: "MANUAL", reason: "interrupted", severity: severityOf(check) }]);
    const other = start({ once: true, checks, benchmark: "okta-idaas-stig-v1r1" });
    await other.finished;
    expect(other.lines).toMatchObject([{ check: fips, cause: "start", from: null }]);
  });

  it("begins with a new state where the one of before is damaged, and says so; only its owner may read it", async () => {
    const { directory, start } = await setUpOrg();
    await start({ once: true }).finished;
    const path = join(directory, "state.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, "utf8");
    for (const damaged of [text.slice(0, text.length / 2), text.replace('"reading":', '"read":')]) {
      await writeFile(path, damaged);
      const second = start({ once: true });
      await second.finished;
      expect(second.said[0]).toMatch(/damaged/);
      expect(second.lines.length).toBeGreaterThan(28);
    }
    await rm(path);
    await mkdir(path);
    await expect(loadState(directory, "", () => {})).rejects.toThrow(/^Cannot read --state ".*": it is a directory/);
  });

  it("names both transactions on one policy, and none of another family", async () => {
    const { org, follower } = await startFollower({ withAddresses: true });
    org.change("fips-off", "dana@practice.example");
    org.change("session-lifetime-long", "sam@practice.example");
    org.change("session-idle-long", "alex@practice.example");
    const { lines } = await follower.after();
    const logins = (name: string) =>
      lines.flatMap(({ check, explained_by: events }) =>
        check === name ? events.map(({ actor }) => actor.login) : [],
      );
    expect(new Set(logins(fips))).toEqual(new Set(["dana@practice.example"]));
    const both = new Set(["sam@practice.example", "alex@practice.example"]);
    expect(new Set(logins("signon_global_session_idle_timeout_15min"))).toEqual(both);
    expect(lines[0]?.explained_by[0]).toHaveProperty("ip_address");
  });

  it.each([
    ["the innocent first", ["app-added", "dashboard-mfa-off"]],
    ["the innocent last", ["dashboard-mfa-off", "app-added"]],
  ])(
    "names who changed a finding's object, and lists others of the interval without a name: %s",
    async (_case, names) => {
      const { org, follower } = await startFollower();
      for (const name of names)
        org.change(name, name === "app-added" ? "sam@practice.example" : "dana@practice.example");
      const { lines } = await follower.after();
      const logins = (line: (typeof lines)[number]) => [...new Set(line.explained_by.map(({ actor }) => actor.login))];
      const ofDashboard = lines.filter(({ resource }) => resource.name === "Okta Dashboard");
      const ofOthers = lines.filter(({ resource }) => resource.type === "app" && resource.name !== "Okta Dashboard");
      expect(ofDashboard.length).toBeGreaterThan(0);
      expect(ofOthers.length).toBeGreaterThan(0);
      for (const line of ofDashboard) {
        expect(logins(line)).toEqual(["dana@practice.example"]);
        expect(line.also.join()).toContain("application.lifecycle.create");
        expect(JSON.stringify(line)).not.toContain("sam@");
      }
      for (const line of ofOthers) expect(logins(line)).toEqual(["sam@practice.example"]);
    },
  );

  // The time is that of hours of work, were the objects of each finding looked for at each event.
  it("names twenty events at the most where hundreds explain thousands of findings", { timeout: 30_000 }, async () => {
    const { org, follower } = await startFollower({}, { profile: { name: "large", appCount: 400 } });
    const zones = org.contents().zones.map(({ id }) => targetOf(id, "NetworkZone"));
    const rules = org.contents().policies.flatMap((one) => one.rules.map(({ id }) => targetOf(id, "PolicyRule")));
    for (let count = 0; count < 600; count += 1) {
      const [type, targets] = count % 2 === 0 ? ["zone.update", zones] : ["policy.rule.update", rules];
      org.writeEvents([
        { eventType: type, displayMessage: "", targets: [targets[count % targets.length] ?? []].flat() },
      ]);
    }
    org.change("zone-widened");
    const { lines } = await follower.after();
    expect(lines.length).toBeGreaterThan(280);
    expect(Math.max(...lines.map(({ explained_by: events }) => events.length))).toBe(20);
    expect(Math.max(...lines.map(({ also }) => also.length))).toBe(20);
  });

  it("an event that is about no object of the finding names nobody, and is listed", async () => {
    const { org, follower } = await startFollower();
    org.setFaults([{ name: "missing-events" }]);
    org.change("fips-off");
    org.setFaults([]);
    const eventType = "security.authenticator.lifecycle.update";
    org.writeEvents([
      { eventType, displayMessage: "Update an authenticator", targets: [targetOf("aut1", "Authenticator", "Phone")] },
    ]);
    expect((await follower.after()).lines).toMatchObject([
      { check: fips, explained_by: [], also: [`${eventType} Phone`] },
    ]);
  });

  it("names who switched off a zone that the rules of an app's policy name", async () => {
    const { org, follower } = await startFollower();
    org.change("zone-off");
    const zones = "application_authentication_policy_network_zone_enforced";
    const lines = (await follower.after()).lines.filter(({ check }) => check === zones);
    expect(lines.length).toBeGreaterThan(0);
    for (const { explained_by: events } of lines) expect(events).toMatchObject([{ event_type: "zone.deactivate" }]);
  });

  it("names who deleted the app that the organization's document names as its SIEM", async () => {
    const { org, started } = await setUpOrg();
    org.change("log-stream-off");
    const before = new Set(org.contents().apps.map(({ id }) => id));
    org.change("app-added");
    const siem = org.contents().apps.find(({ id }) => !before.has(id));
    const policy = {
      ...aDocument,
      approved_on: "2020-01-01",
      expires: "2099-01-01",
      siem: { client_id: String(siem?.id), method: "System Log API" },
    };
    const follower = await started({ orgPolicy: { current: () => policy, async refresh() {} } });
    org.change("app-deleted", "dana@practice.example");
    const lines = (await follower.after()).lines.filter(({ check }) => check === "systemlog_streaming_enabled");
    expect(lines).toMatchObject([{ to: { status: "FAIL" }, cause: "log" }]);
    const logins = lines.flatMap(({ explained_by: events }) => events.map(({ actor }) => actor.login));
    expect(new Set(logins)).toEqual(new Set(["dana@practice.example"]));
  });

  it("ends with the first new failure, and not with those of the first state", async () => {
    const { org, follower } = await startFollower({ failOn: parseFailOn("fail") }, { profile: { name: "typical" } });
    expect(follower.lines.some(({ to }) => to?.status === "FAIL")).toBe(true);
    org.change("mfa-off");
    await follower.after();
    expect(await follower.finished).toBe("failed");
    expect(follower.calls.at(-1)).toBe("ended A new finding matches --fail-on");
  });

  it("ends with a failure that only a person found, where the scan found none", async () => {
    const { started } = await setUpOrg();
    const attestation = { status: "FAIL", reason: "Off since noon", by: "Ada", expires: null } as const;
    let isFound = false;
    const attest = (result: CheckResult) => (isFound && result.check === fips ? { ...result, attestation } : result);
    const decisions = { refresh: async () => isFound, apply: (all: readonly CheckResult[]) => all.map(attest) };
    const follower = await started({ failOn: parseFailOn("fail"), decisions });
    isFound = true;
    const { lines } = await follower.after();
    expect(lines.map(({ check, cause, to }) => [check, cause, to?.status])).toEqual([[fips, "decision", "PASS"]]);
    expect(await follower.finished).toBe("failed");
  });

  it("ends as soon as nothing fails that nobody waived", async () => {
    const { org, started } = await setUpOrg();
    org.change("fips-off");
    const attestation = { status: "FAIL", reason: "Not ours", by: "Ada", expires: null } as const;
    const accepted = (result: CheckResult) => {
      if (result.check !== "idp_smart_card_dod_approved_ca") return result;
      return { ...result, attestation, findings: result.findings.map((finding) => ({ ...finding, waived: true })) };
    };
    const decisions = { refresh: async () => false, apply: (results: readonly CheckResult[]) => results.map(accepted) };
    const follower = await started({ untilClean: true, decisions });
    org.change("fips-on");
    await follower.after();
    expect(await follower.finished).toBe("clean");
    expect(follower.calls.at(-1)).toBe("ended No check fails any more (--until-clean)");
  });
});

function targetOf(id: unknown, type: string, displayName: string | null = null) {
  return { id: String(id), type, alternateId: null, displayName, detailEntry: null };
}
