import { beforeAll, describe, expect, test } from "vitest";
import { parseLogFilter } from "../../practice_org/log/log_filter.ts";
import { admins, adminOf } from "../../practice_org/log/admins.ts";
import { logEvent, type LogEvent, type LogEventSpec } from "../../practice_org/log/log_events.ts";
import { createRawClient, nextLink } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { Fault } from "../../practice_org/api/faults.ts";
import type { PracticeOrgOptions } from "../../practice_org/create_practice_org.ts";

const startMs = Date.UTC(2026, 5, 1, 12);
const dayMs = 24 * 3_600_000;

const zoneEvent = (name: string): LogEventSpec => ({
  eventType: "zone.update",
  displayMessage: "Update of a network zone",
  targets: [{ id: `nzo-${name}`, type: "NetworkZone", alternateId: "unknown", displayName: name }],
});

async function openLog(options: Partial<PracticeOrgOptions> = {}) {
  let nowMs = startMs;
  const org = await startOrg({ clock: () => nowMs, rateLimit: { buckets: { logs: 1_000 } }, ...options });
  const client = await createRawClient(org, () => nowMs);
  let token = await client.logIn({ scope: "okta.logs.read" });
  const get = async (path: string) => client.call(token, path);
  return {
    org,
    get,
    async wait(ms: number) {
      nowMs += ms;
      if (ms > 3_000_000) token = await client.logIn({ scope: "okta.logs.read" });
    },
    now: () => nowMs,
    async read(pathOrUrl: string) {
      const response = await get(pathOrUrl);
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      const events = (await response.json()) as LogEvent[];
      return { events, names: events.map(nameOf), next: nextLink(response) ?? "" };
    },
    async refusal(path: string) {
      const response = await get(path);
      const { errorCode } = (await response.json()) as { errorCode: string };
      return [response.status, errorCode];
    },
    write(...names: readonly string[]) {
      for (const name of names) org.writeEvents([zoneEvent(name)]);
    },
  };
}

const nameOf = ({ target }: LogEvent) => target?.[0]?.displayName ?? null;
const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString());

describe("Polling", () => {
  test("has a next link on every page, an empty one too, and goes on where it was", async () => {
    const log = await openLog();
    const empty = await log.read("/api/v1/logs");
    expect(empty.events).toEqual([]);
    expect(empty.next).toMatch(/^http:.*\/api\/v1\/logs\?after=[\w-]+$/);
    const still = await log.read(empty.next);
    expect([still.events, still.next]).toEqual([[], empty.next]);
    log.write("a", "b");
    const two = await log.read(empty.next);
    expect(two.names).toEqual(["a", "b"]);
    expect((await log.read(two.next)).names).toEqual([]);
    log.write("c");
    expect((await log.read(two.next)).names).toEqual(["c"]);
  });

  test("keeps limit and filter in the link, and leaves since out", async () => {
    const log = await openLog();
    log.write("a", "b", "c");
    log.org.signIn();
    const filter = encodeURIComponent('eventType sw "zone."');
    const first = await log.read(`/api/v1/logs?since=${at(startMs)}&limit=2&filter=${filter}`);
    expect(first.names).toEqual(["a", "b"]);
    const query = new URL(first.next).searchParams;
    expect([query.get("since"), query.get("limit"), query.get("filter")]).toEqual([null, "2", 'eventType sw "zone."']);
    expect((await log.read(first.next)).names).toEqual(["c"]);
  });

  test("goes by the time of persistence: an event that is late comes last, however early it was published", async () => {
    const log = await openLog();
    log.org.writeEvents([zoneEvent("late")], { persistAfterMs: 20_000 });
    await log.wait(10_000);
    log.write("punctual");
    const first = await log.read("/api/v1/logs");
    expect(first.names).toEqual(["punctual"]);
    await log.wait(9_999);
    expect((await log.read(first.next)).names).toEqual([]);
    await log.wait(1);
    const second = await log.read(first.next);
    expect(second.names).toEqual(["late"]);
    expect(second.events[0]?.published).toBe(new Date(startMs).toISOString());
    expect((await log.read(`/api/v1/logs?since=${at(startMs + 20_000)}`)).names).toEqual(["late"]);
    expect((await log.read(`/api/v1/logs?since=${at(startMs + 20_001)}`)).names).toEqual([]);
  });

  test("begins seven days ago unless since says otherwise, and 90 days ago at most", async () => {
    const log = await openLog();
    log.write("a");
    await log.wait(7 * dayMs);
    expect((await log.read("/api/v1/logs")).names).toEqual(["a"]);
    await log.wait(1);
    expect((await log.read("/api/v1/logs")).names).toEqual([]);
    expect((await log.read(`/api/v1/logs?since=${at(startMs)}`)).names).toEqual(["a"]);
    await log.wait(83 * dayMs);
    expect((await log.read(`/api/v1/logs?since=${at(startMs)}`)).names).toEqual([]);
  });
});

describe("A time with an end", () => {
  test("is ordered by published, in the order asked for, and its links end", async () => {
    const log = await openLog();
    log.org.writeEvents([zoneEvent("late")], { persistAfterMs: 20_000 });
    await log.wait(10_000);
    log.write("second");
    await log.wait(10_000);
    const range = `since=${at(startMs)}&until=${at(startMs + 60_000)}`;
    const first = await log.read(`/api/v1/logs?${range}&limit=1`);
    const second = await log.read(first.next);
    expect([first.names, second.names, second.next]).toEqual([["late"], ["second"], ""]);
    expect((await log.read(`/api/v1/logs?${range}&sortOrder=DESCENDING`)).names).toEqual(["second", "late"]);
    expect((await log.read(`/api/v1/logs?since=${at(startMs)}&until=${at(startMs + 10_000)}`)).names).toEqual(["late"]);
    expect((await log.read("/api/v1/logs?sortOrder=DESCENDING")).next).toBe("");
  });
});

describe("Parameters", () => {
  let log: Awaited<ReturnType<typeof openLog>>;
  beforeAll(async () => {
    log = await openLog();
    log.write(...Array.from({ length: 101 }, (_, index) => String(index)));
  });

  test("limit is 100 by default, from 0 to 1000", async () => {
    expect((await log.read("/api/v1/logs")).names).toHaveLength(100);
    expect((await log.read("/api/v1/logs?limit=1000")).names).toHaveLength(101);
    expect((await log.read("/api/v1/logs?limit=0")).names).toHaveLength(0);
    expect(await log.refusal("/api/v1/logs?limit=1001")).toEqual([400, "E0000001"]);
    expect(await log.refusal("/api/v1/logs?limit=x")).toEqual([400, "E0000001"]);
  });

  test("since may lie 180 days back", async () => {
    expect((await log.read(`/api/v1/logs?since=${at(startMs - 180 * dayMs)}`)).names).toHaveLength(100);
    expect(await log.refusal(`/api/v1/logs?since=${at(startMs - 180 * dayMs - 1)}`)).toEqual([400, "E0000053"]);
  });

  test("since and after exclude each other; a cursor that the org did not make is refused", async () => {
    const { next } = await log.read("/api/v1/logs?limit=1");
    expect((await log.read(next)).names).toEqual(["1"]);
    expect(await log.refusal(`${next}&since=${at(startMs)}`)).toEqual([400, "E0000053"]);
    expect(await log.refusal("/api/v1/logs?after=1627500044869_1")).toEqual([400, "E0000029"]);
  });

  test.each(["since=yesterday", "until=1", `since=${at(startMs)}&until=${at(startMs - 1)}`, "sortOrder=down"])(
    "%s is refused",
    async (query) => {
      expect(await log.refusal(`/api/v1/logs?${query}`)).toEqual([400, "E0000053"]);
    },
  );

  test("q finds words anywhere in the event", async () => {
    expect((await log.read("/api/v1/logs?q=nzo-57%20network")).names).toEqual(["57"]);
  });

  test("a filter of 4000 characters is read, a longer one refused", async () => {
    const filter = (length: number) => encodeURIComponent('eventType eq "zone.update"'.padEnd(length, " "));
    expect((await log.read(`/api/v1/logs?filter=${filter(4_000)}`)).names).toHaveLength(100);
    expect(await log.refusal(`/api/v1/logs?filter=${filter(4_001)}`)).toEqual([400, "E0000031"]);
    expect(await log.refusal("/api/v1/logs?filter=published%20gt%20%222026%22")).toEqual([400, "E0000031"]);
  });
});

describe("parseLogFilter", () => {
  const transaction = { id: "t1", actor: adminOf(), nowMs: startMs, requestUri: "/admin" };
  const event = logEvent(transaction, zoneEvent("Office"));

  test.each([
    ['eventType eq "zone.update"', true],
    ['eventType eq "zone.delete"', false],
    ['eventType ne "zone.delete"', true],
    ['eventType sw "zone."', true],
    ['eventType sw "policy."', false],
    ['eventType ew "update" and actor.type eq "User"', true],
    ['eventType sw "policy." or eventType sw "zone."', true],
    ['eventType sw "zone." and eventType co "delete" or outcome.result eq "SUCCESS"', true],
    ['eventType sw "zone." and (eventType co "delete" or outcome.result eq "FAILURE")', false],
    ['not (eventType eq "zone.update")', false],
    ['target.id eq "nzo-Office"', true],
    ["target.id pr and not (legacyEventType pr)", true],
    [`target.displayName eq "O\\"ffice"`, false],
    [`${"(".repeat(50)}eventType pr${")".repeat(50)}`, true],
  ])("%s: %s", (filter, expected) => {
    expect(parseLogFilter(filter)(event)).toBe(expected);
  });

  test.each([
    "",
    "eventType",
    "eventType eq",
    'eventType is "x"',
    'eventType eq "x',
    'eventType eq "x" and',
    '(eventType eq "x"',
    'eventType eq "x")',
    'published gt "2026-01-01"',
    'eventType eq "x" xor eventType eq "y"',
    `${"(".repeat(51)}eventType pr${")".repeat(51)}`,
  ])("refuses %j", (filter) => {
    expect(() => parseLogFilter(filter)).toThrow(RangeError);
  });
});

describe("Who may read", () => {
  test.each([
    ["super", 200],
    ["read-only", 200],
    ["none", 403],
  ] as const)("%s: %d", async (role, status) => {
    expect((await (await openLog({ role })).get("/api/v1/logs")).status).toBe(status);
  });

  test("sixty requests a minute, and its own limit", async () => {
    const org = await startOrg();
    const client = await createRawClient(org);
    const token = await client.logIn({ scope: "okta.logs.read okta.networkZones.read" });
    const first = await client.call(token, "/api/v1/logs");
    expect(first.headers.get("x-rate-limit-limit")).toBe("60");
    expect(first.headers.get("x-rate-limit-remaining")).toBe("59");
    for (let count = 2; count <= 60; count += 1) await (await client.call(token, "/api/v1/logs")).text();
    expect((await client.call(token, "/api/v1/logs")).status).toBe(429);
    expect((await client.call(token, "/api/v1/zones")).status).toBe(200);
  });
});

describe("What goes wrong", () => {
  const withFault = async (...faults: readonly Fault[]) => {
    const log = await openLog();
    log.org.setFaults(faults);
    return log;
  };
  const path = "/api/v1/logs";

  test("empty-log-page: no event, and the link leads to the same place", async () => {
    const log = await withFault({ name: "empty-log-page", path, times: 2 });
    log.write("a");
    const first = await log.read(path);
    const second = await log.read(first.next);
    expect([first.names, second.names]).toEqual([[], []]);
    expect((await log.read(second.next)).names).toEqual(["a"]);
  });

  test("doubled-log-page: each twice, within the limit, none lost", async () => {
    const log = await withFault({ name: "doubled-log-page", path });
    log.write("a", "b", "c");
    const first = await log.read(`${path}?limit=4`);
    expect([first.names, (await log.read(first.next)).names]).toEqual([
      ["a", "a", "b", "b"],
      ["c", "c"],
    ]);
  });

  test("log-cursor-lost: only where a request goes on", async () => {
    const log = await withFault({ name: "log-cursor-lost", path, times: 2 });
    const { next } = await log.read(path);
    expect(await log.refusal(next)).toEqual([400, "E0000029"]);
    expect((await log.read(next)).names).toEqual([]);
  });

  test("log-filter-refused: only where there is a filter", async () => {
    const log = await withFault({ name: "log-filter-refused", path });
    expect(await log.refusal(`${path}?filter=eventType%20pr`)).toEqual([400, "E0000031"]);
    expect((await log.read(path)).names).toEqual([]);
  });

  test("next-link-elsewhere, repeated-cursor, rate-limit and forbidden are those of every list", async () => {
    const log = await withFault({ name: "next-link-elsewhere", path });
    expect((await log.read(path)).next).toMatch(/^https:\/\/elsewhere\.invalid\/api\/v1\/logs\?after=/);
    log.write("a");
    log.org.setFaults([{ name: "repeated-cursor", path }]);
    const { next } = await log.read(path);
    expect((await log.read(next)).next).toBe(next);
    log.org.setFaults([{ name: "rate-limit", path }]);
    expect(await log.refusal(path)).toEqual([429, "E0000047"]);
    log.org.setFaults([{ name: "forbidden", path }]);
    expect(await log.refusal(path)).toEqual([403, "E0000006"]);
  });

  test("duplicate-events: the same uuid twice, for as many changes as set", async () => {
    const log = await withFault({ name: "duplicate-events", times: 1 });
    log.write("a", "b");
    const { events, names } = await log.read(path);
    expect(names).toEqual(["a", "a", "b"]);
    expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(2);
  });

  test("late-events: thirty seconds later, behind newer ones", async () => {
    const log = await withFault({ name: "late-events", times: 1 });
    log.write("late");
    await log.wait(29_999);
    log.write("b");
    const first = await log.read(path);
    await log.wait(1);
    expect([first.names, (await log.read(first.next)).names]).toEqual([["b"], ["late"]]);
  });

  test("missing-events, unknown-event-type, event-without-target and hostile-actor", async () => {
    const log = await withFault({ name: "missing-events" });
    log.write("a");
    expect((await log.read(path)).events).toEqual([]);
    log.org.setFaults([{ name: "unknown-event-type" }, { name: "event-without-target" }, { name: "hostile-actor" }]);
    log.write("b");
    const [event] = (await log.read(path)).events;
    expect([event?.eventType, event?.target]).toEqual(["zone.reshuffle", null]);
    expect(event?.actor.displayName).toMatch(/^<script>.*A{10000}$/s);
  });

  test("event-flood: ten thousand events of traffic with one change, in ten pages", async () => {
    const log = await withFault({ name: "event-flood", times: 1 });
    log.write("a");
    const counts: number[] = [];
    let next = `${path}?limit=1000`;
    while (counts.at(-1) !== 1) {
      const page = await log.read(next);
      counts.push(page.events.length);
      ({ next } = page);
    }
    expect(counts).toEqual([...Array.from({ length: 10 }, () => 1_000), 1]);
  });
});

test("An event has the fields of the reference, and types of the catalog", async () => {
  const log = await openLog();
  log.org.signIn(admins[1]?.alternateId);
  const { events } = await log.read("/api/v1/logs");
  expect(events.map(({ eventType }) => eventType)).toEqual(["policy.evaluate_sign_on", "user.session.start"]);
  const [event] = events;
  expect(Object.keys(event ?? {}).sort()).toEqual([
    "actor",
    "authenticationContext",
    "client",
    "debugContext",
    "device",
    "displayMessage",
    "eventType",
    "legacyEventType",
    "outcome",
    "published",
    "request",
    "securityContext",
    "severity",
    "target",
    "transaction",
    "uuid",
    "version",
  ]);
  expect(event?.actor).toMatchObject({ type: "User", alternateId: "dana@practice.example", displayName: "Dana Duty" });
  expect(new Set(events.map(({ transaction }) => (transaction as { id: string }).id)).size).toBe(1);
  expect(event?.published).toBe(new Date(startMs).toISOString());
});
