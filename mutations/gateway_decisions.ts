import type { Mutation } from "./mutation.ts";

const otherAuthor = "a decision in the name of somebody else, or by who may only read";
const otherOrganization = "a waiver of one organization or tenant that hides another's findings";
const untrue = "an attestation that outlives what it says";
const without =
  "decisions that cannot be read, whole, or whose end cannot: a run without them, or one that holds for ever";

const routesTest = "test/gateway/features/decisions/routes.test.ts";
const scanTest = "test/scanner/decisions/gateway_decisions.test.ts";
const migration = "drizzle/migrations/0009_decisions.sql";

/** Decisions at a gateway: the table of `docs/threat_model.md`. */
export const gatewayDecisions: readonly Mutation[] = [
  {
    mistake: "the author is who the body says",
    holds: [otherAuthor],
    file: "gateway/features/decisions/decision_store.ts",
    find: "authorName: nameOf(principal),",
    replace: 'authorName: typeof decision.by === "string" ? decision.by : nameOf(principal),',
    testFile: routesTest,
    test: "keeps a waiver with its author",
  },
  {
    mistake: "who may read may decide",
    holds: [otherAuthor],
    file: "gateway/features/decisions/routes.ts",
    find: 'routes.post("/decisions", allow("decide"),',
    replace: 'routes.post("/decisions", allow("read"),',
    testFile: routesTest,
    test: "a viewer and a key that only reads",
  },
  {
    mistake: "a scan takes the decisions about every organization",
    holds: [otherOrganization],
    file: "scanner/decisions/gateway_decisions.ts",
    find: 'active: "true", org_url: orgUrl, limit',
    replace: 'active: "true", limit',
    testFile: scanTest,
    test: "adds what holds for this organization",
  },
  {
    mistake: "row-level security lets a tenant withdraw another's decisions",
    holds: [otherOrganization],
    file: migration,
    find: `USING ("decisions"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH`,
    replace: "USING (true) WITH",
    testFile: routesTest,
    test: "another tenant's, and none",
  },
  {
    mistake: "no scan ends an attestation",
    holds: [untrue],
    file: migration,
    find: "FOR EACH ROW WHEN (NEW.status = 'completed' AND OLD.status <> 'completed')",
    replace: "FOR EACH ROW WHEN (false)",
    testFile: routesTest,
    test: "ends it when it completes",
  },
  {
    mistake: "an attestation of FAIL is contradicted by a FAIL",
    holds: [untrue],
    file: migration,
    find: " AND decisions.status <> 'FAIL'\n",
    replace: "\n",
    testFile: routesTest,
    test: "%s: %s is %s",
  },
  {
    mistake: "a decision whose end cannot be read holds for ever",
    holds: [without],
    file: "scanner/decisions/gateway_decisions.ts",
    find: "v.check((text) => !Number.isNaN(endOfExpiry(text)), expiryMessage)",
    replace: "v.check((text) => endOfExpiry(text) !== 0, expiryMessage)",
    testFile: scanTest,
    test: "%s: nothing is scanned",
  },
  {
    mistake: "the first page of decisions is all of them",
    holds: [without],
    file: "scanner/decisions/gateway_decisions.ts",
    find: "cursor = page.next_cursor;",
    replace: "cursor = null;",
    testFile: scanTest,
    test: "reads every page",
  },
];
