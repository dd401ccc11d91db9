import { expect, test } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import { createLog, type LogOptions } from "../../../gateway/observability/log.ts";

function setUp(options: LogOptions = {}) {
  const lines: string[] = [];
  return { log: createLog({ write: (line) => lines.push(line), ...options }), lines };
}

test("a line is one JSON object of level, time, fields and msg, those below the level are dropped, and a full disk fails nothing", () => {
  const { log, lines } = setUp({ level: "warn" });
  for (const level of ["debug", "info", "warn", "error"] as const) log[level]({ status: 503 }, "two\nlines");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(JSON.parse(lines[0] ?? "")).toEqual({ level: "warn", time, status: 503, msg: "two\nlines" });
  setUp({ write: () => expect.fail("no space left on device") }).log.error({}, "a request failed");
});

test("an error is written with its type, message, code, stack and causes, whatever else hangs on it", () => {
  const { log, lines } = setUp();
  const cause = Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" });
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  log.error({ error: Object.assign(new Error("failed", { cause }), { circular }) }, "a request failed");
  log.error({ error: new AppError("unavailable", "failed", { cause: circular }), count: 1n }, "again");
  const [first, second] = lines.map((line) => JSON.parse(line) as { error: object; count: unknown });
  expect(first?.error).toEqual({
    type: "Error",
    message: "failed",
    stack: expect.stringContaining("log.test.ts"),
    cause: { type: "TypeError", message: "refused", code: "ECONNREFUSED", stack: expect.any(String) },
  });
  expect(second).toEqual(
    expect.objectContaining({ error: { type: "AppError", message: "failed", code: "unavailable" }, count: "1" }),
  );
});

test("S9: what looks like a secret is hidden, wherever it stands", () => {
  const { log, lines } = setUp();
  const url = "postgres://u:hunter2@h/d?access_token=eyJhbGciOi.eyJzdWIi.c2ln&x=1";
  log.info({ url, nested: { header: "Bearer abc.def" }, error: new Error(`at ${url}`) }, "scs_0123abcd_00ff00ff");
  expect(lines[0]).not.toMatch(/hunter2|eyJ|abc\.def|00ff00ff/);
  expect(lines[0]).toContain("scs_0123abcd_[hidden]");
});
