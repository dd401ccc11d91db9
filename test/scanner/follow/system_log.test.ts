import { expect, test } from "vitest";
import { openSystemLog } from "../../../scanner/follow/system_log.ts";
import type { IdpRequest, ListPage, Reading } from "../../../scanner/okta/idp_client.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

type Answer = Reading<ListPage>;

const providerMs = Date.parse("2026-03-01T12:00:00Z");

/** A log from cursor `a`, whose requests are answered one after the other; `asked` has their paths. */
function logOf(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const saved = { cursor: at("a"), lastLookAt: null, seen: [] };
  const pages = {
    nowMs: () => providerMs,
    async getPage({ path }: IdpRequest) {
      asked.push(path);
      return answers[asked.length - 1] ?? refusal(500);
    },
  };
  const log = openSystemLog({ pages, clock: createFakeClock(), say: () => undefined, reconcileMs: 1, saved });
  return { asked, log };
}

function page(first: number, count: number, next: string | null): Answer {
  const entries = Array.from({ length: count }, (_, index) => ({
    uuid: `u${first + index}`,
    eventType: "zone.update",
  }));
  return { state: "obtained", value: { entries, next } };
}

function refusal(httpStatus: number | null, reason: "provider_error" | "missing_scope" = "provider_error"): Answer {
  return { state: "missing", reason, detail: "refused", partial: null, refusal: { httpStatus, errorCode: null } };
}

const at = (name: string) => `/api/v1/logs?after=${name}`;
const eventCount = (found: Awaited<ReturnType<ReturnType<typeof openSystemLog>["read"]>>) =>
  typeof found === "string" ? found : found.events.length;

test("begins five minutes ago by the provider's clock, also where this machine's is far ahead", async () => {
  const { log, asked } = logOf(page(0, 0, at("b")));
  expect(await log.begin()).toBe(true);
  expect(new URL(asked[0] ?? "", "https://org.invalid").searchParams.get("since")).toBe("2026-03-01T11:55:00.000Z");
});

test("reads ten pages in one look, says that there are more, and keeps 2,000 identities", async () => {
  const { log, asked } = logOf(...Array.from({ length: 11 }, (_, n) => page(n * 1000, 1000, at(`p${n + 1}`))));
  expect(await log.read()).toMatchObject({ isMore: true });
  const { cursor, seen } = log.toSave();
  expect([asked.length, cursor, seen.length]).toEqual([10, at("p10"), 2000]);
});

test("a page may have more entries than it was asked for, and then is the only one of its look", async () => {
  const { log, asked } = logOf(page(0, 200_000, at("b")));
  expect([eventCount(await log.read()), asked.length]).toEqual([200_000, 1]);
});

test("a later page that cannot be read is not the log's end", async () => {
  const { log } = logOf(page(0, 1000, at("b")), refusal(500));
  expect(await log.read()).toMatchObject({ isMore: true });
  expect(log.polledMs()).toBeNull();
  expect(await log.read()).toBe("unreadable");
});

test("keeps its cursor where a page names no next one, and fails where such a page is full and has nothing new", async () => {
  const { log } = logOf(page(0, 2, null), page(0, 1000, null), page(0, 1000, null));
  expect(await log.read()).toMatchObject({ isMore: false });
  expect(eventCount(await log.read())).toBe(998);
  expect(await log.read()).toBe("unreadable");
});

test.each([
  [refusal(400), "lost", null],
  [refusal(410), "lost", null],
  [refusal(403), "unreadable", "log_forbidden"],
  [refusal(null, "missing_scope"), "unreadable", "log_forbidden"],
  [refusal(429), "unreadable", "log_unreadable"],
  [refusal(null), "unreadable", "log_unreadable"],
])("after %j the log is %s, with the error %s", async (answer, outcome, code) => {
  const { log } = logOf(answer);
  expect([await log.read(), log.status().error_code]).toEqual([outcome, code]);
});

test("begins at the end, without a filter where one is refused", async () => {
  const { log, asked } = logOf(refusal(400), page(0, 1000, at("b")), page(1000, 5, at("c")));
  expect(await log.begin()).toBe(true);
  expect(log.toSave().cursor).toBe(at("c"));
  const filters = asked.map((path) => new URL(path, "https://org.invalid").searchParams.get("filter")?.length ?? 0);
  expect(filters).toEqual([...filters].sort((one, other) => other - one));
  expect(filters[1]).toBe(0);
  const refused = logOf(refusal(400), refusal(400)).log;
  expect([await refused.begin(), refused.status().error_code]).toEqual([false, "log_unreadable"]);
});
