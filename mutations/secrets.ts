import type { Mutation } from "./mutation.ts";

const logs = "tokens in logs, errors, metrics";
const key = "a private key in an error or a printed object";

/** The last table of `docs/threat_model.md`, "Secrets". */
export const secrets: readonly Mutation[] = [
  {
    mistake: "secrets in a log line are not hidden",
    holds: [logs, "S9"],
    file: "gateway/observability/log.ts",
    find: "return secretPatterns.reduce((text, [pattern, hidden]) => text.replace(pattern, hidden), line);",
    replace: "return line;",
    testFile: "test/gateway/runtime/start_gateway.test.ts",
    test: "no secret reaches the log",
  },
  {
    mistake: "the request's address is logged in place of its route",
    holds: [logs, "S9"],
    file: "gateway/http/request_log.ts",
    find: '  return route?.path ?? "unmatched";',
    replace: '  return route === undefined ? "unmatched" : decodeURIComponent(c.req.url).replaceAll("=", " ");',
    testFile: "test/gateway/streaming/event_streams.test.ts",
    test: "S9: no token",
  },
  {
    mistake: "the key is kept beside itself as text, for messages",
    holds: [key, "S9"],
    file: "scanner/idp/private_key.ts",
    find: "return { key, alg, kid: hints.kid };",
    replace: 'return { key, alg, kid: hints.kid, text: key.export({ type: "pkcs8", format: "pem" }) } as SigningKey;',
    testFile: "test/scanner/idp/private_key.test.ts",
    test: "a parsed key does not show",
  },
  {
    mistake: "a key that cannot be read is quoted in the error",
    holds: [key, "S9"],
    file: "scanner/idp/private_key.ts",
    find: '  throw new PrivateKeyError("It is neither PEM nor JSON");',
    replace: "  throw new PrivateKeyError(`It is neither PEM nor JSON (${plain.slice(0, 20)}…)`);",
    testFile: "test/scanner/idp/private_key.test.ts",
    test: "parsePrivateKey refuses %s with its reason, and shows nothing of it",
  },
  {
    mistake: "tokens in the provider's text are shown",
    holds: ["what a provider echoes", "S9"],
    file: "scanner/idp/safe_text.ts",
    find: '    .replaceAll(/\\beyJ[A-Za-z0-9_-]{5,}(?:\\.[A-Za-z0-9_-]*){0,4}/g, "[redacted]")\n',
    replace: "",
    testFile: "test/scanner/idp/token.test.ts",
    test: "redacts an assertion",
  },
  {
    mistake: "an error of the database holds the pool, for debugging",
    holds: ["the database password in an error", "S9"],
    file: "drizzle/databases/pool_database.ts",
    find: "return await pool.connect();",
    replace:
      "return await pool.connect().catch((error: unknown) => {\n" +
      "      throw Object.assign(error as Error, { pool });\n    });",
    testFile: "test/drizzle/outage_suite.ts",
    via: "test/drizzle/pg_outage.test.ts",
    test: "a wrong password",
  },
];
