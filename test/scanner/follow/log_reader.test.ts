import { describe, expect, it } from "vitest";
import { createLogReader } from "../../../scanner/follow/log_reader.ts";
import type { ListPage, PageReader, Reading } from "../../../scanner/okta/idp_client.ts";

type Answer = Reading<ListPage>;

/** Answers one request after the other; `asked` has their paths. */
function scripted(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const pages: PageReader = {
    getPage({ path }) {
      asked.push(path);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error(`No answer is scripted for ${path}`);
      return Promise.resolve(answer);
    },
  };
  return { asked, pages };
}

function page(first: number, count: number, next: string | null): Answer {
  const entries = Array.from({ length: count }, (_, index) => ({
    uuid: `u${first + index}`,
    eventType: "zone.update",
  }));
  return { state: "obtained", value: { entries, size: count, problems: [], next } };
}

function refusal(httpStatus: number | null, reason: "provider_error" | "missing_scope" = "provider_error"): Answer {
  return { state: "missing", reason, detail: "refused", partial: null, refusal: { httpStatus, errorCode: null } };
}

const at = (name: string) => `/api/v1/logs?after=${name}`;

describe("read", () => {
  it("takes the next link of a page that is not full as the cursor, an empty one too", async () => {
    const { pages, asked } = scripted(page(0, 0, at("b")), page(0, 999, at("c")));
    const reader = createLogReader({ pages });
    expect(await reader.read(at("a"))).toEqual({
      kind: "events",
      events: [],
      problems: [],
      cursor: at("b"),
      isMore: false,
    });
    expect(await reader.read(at("b"))).toMatchObject({ cursor: at("c"), isMore: false });
    expect(asked).toEqual([at("a"), at("b")]);
  });

  it("goes on while pages are full", async () => {
    const { pages, asked } = scripted(page(0, 1000, at("b")), page(1000, 1, at("c")));
    const reading = await createLogReader({ pages }).read(at("a"));
    expect(reading).toMatchObject({ cursor: at("c"), isMore: false });
    expect(reading.kind === "events" && reading.events.length).toBe(1001);
    expect(asked).toHaveLength(2);
  });

  it("reads ten pages in one look, and says that there are more", async () => {
    const { pages, asked } = scripted(...Array.from({ length: 11 }, (_, n) => page(n * 1000, 1000, at(`p${n + 1}`))));
    expect(await createLogReader({ pages }).read(at("p0"))).toMatchObject({ cursor: at("p10"), isMore: true });
    expect(asked).toHaveLength(10);
  });

  it("gives an entry once, however often it comes, also in another process", async () => {
    const { pages } = scripted(page(0, 3, at("b")), page(1, 3, at("c")), page(2, 3, at("d")));
    const reader = createLogReader({ pages });
    await reader.read(at("a"));
    const second = await reader.read(at("b"));
    expect(second.kind === "events" && second.events.map(({ uuid }) => uuid)).toEqual(["u3"]);
    const other = await createLogReader({ pages, seen: reader.seen() }).read(at("c"));
    expect(other.kind === "events" && other.events.map(({ uuid }) => uuid)).toEqual(["u4"]);
  });

  it("keeps a bounded number of identities", async () => {
    const { pages } = scripted(page(0, 1000, at("b")), page(1000, 1000, at("c")), page(2000, 500, at("d")));
    const reader = createLogReader({ pages });
    await reader.read(at("a"));
    expect(reader.seen()).toHaveLength(2000);
    expect(reader.seen().at(-1)).toBe("u2499");
  });

  it("keeps its cursor where a page names no next one, and fails where such a page is full and has nothing new", async () => {
    const { pages } = scripted(page(0, 2, null), page(0, 1000, null), page(0, 1000, null));
    const reader = createLogReader({ pages });
    expect(await reader.read(at("a"))).toMatchObject({ cursor: at("a"), isMore: false });
    expect(await reader.read(at("a"))).toMatchObject({ kind: "events", cursor: at("a") });
    expect(await reader.read(at("a"))).toMatchObject({ kind: "failed" });
  });

  it("keeps the pages before one that fails", async () => {
    const { pages } = scripted(page(0, 1000, at("b")), refusal(500));
    expect(await createLogReader({ pages }).read(at("a"))).toMatchObject({ kind: "events", cursor: at("b") });
  });

  it.each([
    [400, "lost"],
    [404, "lost"],
    [410, "lost"],
    [403, "forbidden"],
    [429, "failed"],
    [500, "failed"],
    [null, "failed"],
  ] as const)("after status %s the log is %s", async (status, kind) => {
    const { pages } = scripted(refusal(status));
    expect((await createLogReader({ pages }).read(at("a"))).kind).toBe(kind);
  });

  it("is forbidden without the scope", async () => {
    const { pages } = scripted(refusal(null, "missing_scope"));
    expect((await createLogReader({ pages }).read(at("a"))).kind).toBe("forbidden");
  });
});

describe("begin", () => {
  it("reads to the end, and leaves out what was before", async () => {
    const { pages, asked } = scripted(page(0, 1000, at("b")), page(1000, 5, at("c")));
    expect(await createLogReader({ pages }).begin(0)).toEqual({
      kind: "events",
      events: [],
      problems: [],
      cursor: at("c"),
      isMore: false,
    });
    expect(new URL(asked[0] ?? "", "https://org.invalid").searchParams.get("since")).toBe("1970-01-01T00:00:00.000Z");
  });

  it("asks with a shorter filter, then with none, where one is refused", async () => {
    const { pages, asked } = scripted(refusal(400), refusal(400), page(0, 0, at("b")));
    expect(await createLogReader({ pages }).begin(0)).toMatchObject({ cursor: at("b") });
    const filters = asked.map((path) => new URL(path, "https://org.invalid").searchParams.get("filter")?.length ?? 0);
    expect(filters).toEqual([...filters].sort((one, other) => other - one));
    expect(filters.at(-1)).toBe(0);
  });

  it("fails where every one is refused", async () => {
    const { pages } = scripted(refusal(400), refusal(400), refusal(400));
    expect(await createLogReader({ pages }).begin(0)).toMatchObject({ kind: "failed", detail: "refused" });
  });
});
