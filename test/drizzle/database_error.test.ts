import { expect, test } from "vitest";
import { toDatabaseError } from "../../drizzle/database_error.ts";

// `query_suite.ts` has states that are about the statement.
const answer = (code: string, message = "m") => Object.assign(new Error(message), { code, severity: "ERROR" });

test.each(["08006", "28P01", "3D000", "40001", "40P01", "53300", "57014", "57P01", "57P03", "58030", "55P03", "25006"])(
  "toDatabaseError: SQLSTATE %s means unavailable",
  (code) => {
    expect(toDatabaseError(answer(code))).toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  },
);

test("toDatabaseError: an error that is not a server's answer means unavailable", () => {
  const errors = [
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    // Five capitals, but not from a server.
    Object.assign(new Error("broken pipe"), { code: "EPIPE" }),
    new AggregateError([new Error("v4"), new Error("v6")], "all addresses"),
    new Error("Connection terminated unexpectedly"),
    new DOMException("too late", "TimeoutError"),
    "a string",
  ];
  for (const error of errors) expect(toDatabaseError(error)).toMatchObject({ code: "unavailable", cause: error });
});
