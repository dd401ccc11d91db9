import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { selectChecks } from "../../../scanner/catalog/select_checks.ts";
import type { OrgPolicy } from "../../../scanner/org_policy/document.ts";
import { aDocument } from "../../support/org_policy_builder.ts";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startOrg } from "../../practice_org/start_org.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { freePort } from "../../support/free_port.ts";
import { setUpOrg, startFollower } from "./followed_org.ts";

const fips = "authenticator_okta_verify_fips_compliant";

describe("a follower, where the log or the organization fails", () => {
  it("finds by reconciliation what the log does not say, and marks it as unexplained", async () => {
    const { org, follower } = await startFollower({ reconcileMs: 10_000 });
    org.setFaults([{ name: "missing-events" }]);
    org.change("fips-off");
    expect((await follower.after()).lines).toEqual([]);
    const { lines } = await follower.after(10_000);
    expect(lines).toMatchObject([{ check: fips, cause: "reconciliation", explained_by: [] }]);
  });

  it.each([
    "duplicate-events",
    "doubled-log-page",
    "unknown-event-type",
    "repeated-cursor",
    "next-link-elsewhere",
  ] as const)("sees a change once, explained, with the fault %s", async (name) => {
    const { org, follower } = await startFollower();
    org.setFaults([{ name, path: "/api/v1/logs" }]);
    org.change("mfa-off");
    const lines = [
      ...(await follower.after()).lines,
      ...(await follower.after()).lines,
      ...(await follower.after()).lines,
    ];
    expect(new Set(lines.map(({ fingerprint }) => fingerprint)).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatchObject({ cause: "log", to: { status: "FAIL" } });
    expect(lines.every(({ explained_by }) => explained_by.length > 0)).toBe(true);
  });

  it("goes on after the org was started again, which forgets neither a change nor its log", async () => {
    const kept = { port: await freePort(), keptFile: join(await ownFolder(), "org.json") };
    const { org, start } = await setUpOrg(kept);
    await start({ once: true }).finished;
    org.change("fips-off", "dana@practice.example");
    await org.stop();
    const again = await startOrg({ profile: { name: "compliant" }, ...kept });
    const second = start({ once: true });
    await second.finished;
    const actor = { login: "dana@practice.example" };
    expect(second.lines).toMatchObject([{ check: fips, to: { status: "FAIL" }, explained_by: [{ actor }] }]);
    expect(second.said).toEqual([]);
    expect(() => again.change("fips-off")).toThrow();
  });

  it("names who made a change while its evidence is collected after the event of somebody else", async () => {
    let changes = () => {};
    const clock = () => (changes(), Date.now());
    const { org, follower } = await startFollower({}, { clock });
    org.change("mfa-off", "dana@practice.example");
    org.change("mfa-on", "dana@practice.example");
    changes = () => {
      if (org.requests.at(-1)?.path.endsWith("/rules") !== true) return;
      changes = () => {};
      org.change("mfa-off", "sam@practice.example");
    };
    const { lines } = await follower.after();
    const logins = lines.map((line) => line.explained_by.map(({ actor }) => actor.login));
    expect(logins.length).toBeGreaterThan(0);
    for (const names of logins) expect(names).toContain("sam@practice.example");
  });

  it("names who made a change whose evidence could not be collected before a restart", async () => {
    const { org, follower, started } = await startFollower();
    org.setFaults([{ name: "server-error", path: "/api/v1/authenticators" }]);
    org.change("fips-off", "dana@practice.example");
    expect((await follower.after()).lines).toContainEqual(
      expect.objectContaining({ to: expect.objectContaining({ status: "MANUAL" }) }),
    );
    await follower.stop();
    org.setFaults([]);
    const second = await started();
    const { lines } = await second.after(45_000);
    const explained_by = [{ actor: { login: "dana@practice.example" } }];
    expect(lines).toContainEqual(expect.objectContaining({ check: fips, to: { status: "FAIL", reason: null } }));
    expect(lines.find(({ check, to }) => check === fips && to?.status === "FAIL")).toMatchObject({ explained_by });
  });

  it("says when another version of the organization's document changes results, also one from before a restart", async () => {
    const { org, started } = await setUpOrg();
    org.change("admin-idle-long");
    let policy: OrgPolicy | null = null;
    const orgPolicy = { current: () => policy, async refresh() {} };
    const follower = await started({ orgPolicy });
    const zone = { policy: "*", zones_denied: ["Office network"] };
    const dated = { ...aDocument, approved_on: "2020-01-01", expires: "2099-01-01", session_policies: [zone] };
    policy = { ...dated, limits: { admin_console_idle_minutes: 120 } };
    const { lines } = await follower.after();
    expect(new Set(lines.map(({ to_waived: isWaived }) => isWaived))).toEqual(new Set([true, false]));
    for (const line of lines) expect(line).toMatchObject({ cause: "org_policy", explained_by: [] });
    expect(follower.said.join("\n")).toContain('"AC policy for Okta, v3"');
    await follower.stop();
    policy = null;
    const next = await started({ orgPolicy });
    expect(next.lines.length).toBe(lines.length);
    for (const line of next.lines) expect(line).toMatchObject({ cause: "org_policy" });
    // A new file would begin with its own lines otherwise, and lack every verdict that did not change.
    expect(next.linesBeforeState).toEqual([0]);
  });

  it("goes on after a restart under a role that may read only what its checks need", async () => {
    const { org, started } = await setUpOrg();
    const checks = selectChecks({ check: ["network_zone_block_anonymized_proxies"] });
    const others = ["policies", "apps", "brands", "authenticators", "idps", "api-tokens", "logStreams"];
    org.setFaults(others.map((name) => ({ name: "forbidden", path: `/api/v1/${name}` })));
    const follower = await started({ checks });
    await follower.stop();
    const next = await started({ checks });
    expect(await next.stop()).toBe("interrupted");
  });

  it("names the organization's document before it judges by it, and keeps that with the first results", async () => {
    const { start, directory } = await setUpOrg();
    const policy = { ...aDocument, approved_on: "2020-01-01", expires: "2099-01-01" };
    let first: { readonly said: readonly string[]; readonly state: string } | null = null;
    const follower = start({
      orgPolicy: { current: () => policy, async refresh() {} },
      decisions: {
        async refresh() {
          first ??= { said: [...follower.said], state: await readFile(join(directory, "state.json"), "utf8") };
          return false;
        },
        apply: (results) => results,
      },
    });
    await follower.settled();
    expect(first).toMatchObject({
      said: [expect.stringContaining("decides from now on")],
      state: expect.stringMatching(/"orgPolicy":"[0-9a-f]{64}"/),
    });
    expect(follower.said.filter((text) => text.includes("decides from now on"))).toHaveLength(1);
  });

  it("scans everything where the cursor is lost, and says from when to when nothing is known", async () => {
    const { org, follower } = await startFollower();
    org.change("fips-off");
    org.setFaults([{ name: "log-cursor-lost", path: "/api/v1/logs", times: 1 }]);
    const { lines } = await follower.after();
    expect(lines).toMatchObject([{ check: fips, cause: "reconciliation", explained_by: [] }]);
    expect(follower.said.join("\n")).toMatch(/from \S+Z to \S+Z/);
    expect(follower.looks.map(({ error_code: code }) => code)).toContain("log_gap");
    expect(follower.looks.at(-1)?.error_code).toBeNull();
  });

  it("goes on by full scans where the log is forbidden, and says when it is back", async () => {
    const { org, follower } = await startFollower(
      { reconcileMs: 10_000 },
      { faults: [{ name: "forbidden", path: "/api/v1/logs" }] },
    );
    expect(follower.said).toHaveLength(1);
    expect(follower.looks.at(-1)).toMatchObject({ log_status: "unreadable", error_code: "log_forbidden" });
    org.change("fips-off");
    const idle = await follower.after();
    expect(idle.lines).toEqual([]);
    expect(idle.requests.filter((path) => !path.startsWith("/api/v1/logs"))).toEqual([]);
    expect((await follower.after(10_000)).lines).toMatchObject([{ check: fips, cause: "reconciliation" }]);
    org.setFaults([]);
    await follower.after(10_000);
    await follower.after();
    expect(follower.looks.at(-1)?.log_status).toBe("reading");
    expect(follower.said.join("\n")).toMatch(/can be read again/);
  });

  it("hands every verdict to a gateway that was restored from a backup while it was stopped", async () => {
    const { org, started } = await setUpOrg();
    const first = await started();
    const count = first.lines.length;
    org.change("fips-off");
    await first.after();
    await first.stop();
    const second = await started({ isRestored: true });
    expect(second.calls).toContain(`changed ${count}`);
    expect(second.lines).toEqual([]);
  });

  it.each([
    ["another id", () => randomUUID()],
    ["its own id, after a deletion", (id: string) => id],
  ])("hands a new monitor with %s every verdict, and goes on under that id after a restart", async (_case, idAfter) => {
    const { started } = await setUpOrg();
    const first = await started();
    const count = first.lines.length;
    expect(first.calls.at(-1)).toBe(`changed ${count}`);
    first.restored();
    expect(first.calls.slice(-2)).toEqual([`changed ${count}`, `changed ${count}`]);
    await first.stop();
    const registeredAs = idAfter(first.calls[0]?.replace("started ", "") ?? "");
    const second = await started({ registeredAs });
    await second.stop();
    expect(second.calls).toContain(`changed ${count}`);
    expect(second.lines).toEqual([]);
    const third = await started();
    await third.stop();
    expect(third.calls[0]).toBe(`started ${registeredAs}`);
    expect(third.calls.filter((call) => call.startsWith("changed"))).toEqual([]);
  });

  it("writes again after a restart what a full disk kept from the file", async () => {
    const { org, started } = await setUpOrg();
    const unfiled: ChangeLine[] = [];
    const first = await started({ unfiled: () => unfiled });
    org.change("fips-off");
    unfiled.push(...(await first.after()).lines);
    await first.after(60_000);
    await first.stop();
    expect((await started()).lines).toEqual(unfiled);
    expect(unfiled).toMatchObject([{ check: fips }]);
  });

  it("makes each known resource MANUAL while its list cannot be collected, and tries again within a minute", async () => {
    const { org, follower } = await startFollower();
    const known = new Set(
      follower.lines
        .filter(({ check }) => check === "apitoken_restricted_to_network_zone")
        .map((line) => line.fingerprint),
    );
    expect(known.size).toBeGreaterThan(0);
    org.setFaults([{ name: "forbidden", path: "/api/v1/api-tokens" }]);
    org.change("api-token-opened");
    const { lines } = await follower.after();
    for (const fingerprint of known) {
      expect(lines.find((line) => line.fingerprint === fingerprint)?.to).toEqual({
        status: "MANUAL",
        reason: "missing_role",
      });
    }
    org.setFaults([]);
    const later = (await follower.after(59_000)).lines;
    expect(later.filter(({ fingerprint, to }) => known.has(fingerprint) && to === null)).toEqual([]);
    expect(
      later.some(
        ({ to, cause, explained_by: events }) => to?.status === "FAIL" && cause === "log" && events.length > 0,
      ),
    ).toBe(true);
  });

  it.each([-86_400_000, 1_800_000])(
    "names who made a change where the clock jumps by %d ms, and back",
    async (jumpMs) => {
      const { org, time, follower } = await startFollower();
      for (const [ms, change] of [
        [jumpMs, "fips-off"],
        [-jumpMs, "fips-on"],
      ] as const) {
        time.jump(ms);
        await follower.settled();
        org.change(change, "sam@practice.example");
        const seen = [...(await follower.after()).lines, ...(await follower.after()).lines];
        expect(seen).toMatchObject([{ check: fips, explained_by: [{ actor: { login: "sam@practice.example" } }] }]);
      }
    },
  );

  it("keeps what a smaller role no longer sees as open, until the role is back", async () => {
    const { org, follower } = await startFollower({ reconcileMs: 10_000 }, { role: "super" });
    org.change("role-assigned");
    const { lines } = await follower.after(10_000);
    const ofApps = lines.filter(({ resource }) => resource.type === "app");
    expect(ofApps.length).toBeGreaterThan(5);
    for (const { from, to } of ofApps)
      expect([from === null, to]).toEqual([false, { status: "MANUAL", reason: "missing_role" }]);
    expect((await follower.after(10_000)).lines).toEqual([]);
    org.change("super-assigned");
    const back = (await follower.after(10_000)).lines.filter(({ resource }) => resource.type === "app");
    expect(back.map((line) => [line.fingerprint, line.to])).toEqual(
      ofApps.map((line) => [line.fingerprint, line.from]),
    );
  });

  it("stays on its cursor while the log has an outage, and then explains what happened meanwhile", async () => {
    const { org, follower } = await startFollower();
    await follower.after();
    org.setFaults([{ name: "html", path: "/api/v1/logs" }]);
    org.change("fips-off", "sam@practice.example");
    expect((await follower.after()).lines).toEqual([]);
    expect(follower.looks.at(-1)).toMatchObject({ log_status: "unreadable", error_code: "log_unreadable" });
    expect((await follower.after()).lines).toEqual([]);
    const looks = follower.looks.map((look) => Date.parse(look.last_look_at ?? ""));
    expect(looks, "the time of the results never goes back").toEqual(looks.toSorted((one, other) => one - other));
    expect(follower.said).toHaveLength(1);
    org.setFaults([]);
    const { lines } = await follower.after();
    expect(lines).toMatchObject([{ check: fips, explained_by: [{ actor: { login: "sam@practice.example" } }] }]);
    expect(follower.said).toHaveLength(2);
  });

  it("does not name for a change who made one that a full scan found before the log came back", async () => {
    let aheadMs = 0;
    const { org, follower, started } = await startFollower(
      { reconcileMs: 10_000 },
      { clock: () => Date.now() + aheadMs },
    );
    org.setFaults([{ name: "html", path: "/api/v1/logs" }]);
    org.change("fips-off", "sam@practice.example");
    expect((await follower.after(10_000)).lines).toMatchObject([{ check: fips, explained_by: [] }]);
    await follower.stop();
    org.setFaults([]);
    aheadMs = 11_000;
    org.change("fips-on", "dana@practice.example");
    const { lines } = await started();
    expect(lines).toMatchObject([{ check: fips, explained_by: [{ actor: { login: "dana@practice.example" } }] }]);
    expect(lines[0]?.explained_by).toHaveLength(1);
  });

  it("names who made a change that a full scan without the log could not read either", async () => {
    const { org, follower } = await startFollower({ reconcileMs: 10_000 });
    const paths = ["/api/v1/logs", "/api/v1/authenticators"];
    org.setFaults(paths.map((path) => ({ name: "html" as const, path })));
    org.change("fips-off", "sam@practice.example");
    const { lines: unread } = await follower.after(10_000);
    expect(unread).toContainEqual(expect.objectContaining({ to: expect.objectContaining({ status: "MANUAL" }) }));
    org.setFaults([]);
    const { lines } = await follower.after();
    const explained_by = [{ actor: { login: "sam@practice.example" } }];
    expect(lines.find(({ check, to }) => check === fips && to?.status === "FAIL")).toMatchObject({ explained_by });
  });
});
