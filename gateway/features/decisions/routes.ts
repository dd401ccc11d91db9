import { Hono, type Context } from "hono";
import type { Publisher } from "../../../shared/broker.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { isExpired } from "../../../shared/decisions/expiry.ts";
import { newDecisionSchema, type Decision } from "../../../shared/schemas/decision.ts";
import { requireCheckName } from "../../../shared/rule_names.ts";
import { withPrincipal } from "../../auth/membership.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { InvalidBody } from "../../http/problem.ts";
import { choiceParameter, queryParameter } from "../../http/query_parameter.ts";
import { checkParameter } from "../check_parameter.ts";
import { afterResponse } from "../after_response.ts";
import { announce } from "../announce.ts";
import { tenantChannel } from "../tenant_events.ts";
import { toDecision, type DecisionRow } from "./decision.ts";
import { insertDecision, selectDecisions, withdrawDecision, type DecisionFilter } from "./decision_store.ts";
import { decisionPrefix, publishDecisionCreated, publishDecisionUpdated } from "./events.ts";

const maxBodyBytes = 65_536;

/** Waivers and attestations, as the gateway mounts them. */
export const decisions = { prefix: decisionPrefix, routes: decisionRoutes, eventStreams: {} };

type Publish = (publisher: Publisher, channel: string, payload: Decision) => Promise<void>;

/** The REST resource of what people decided about findings. */
function decisionRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, publisher, log, nowMs } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();
  const list: List<DecisionRow, unknown> = {
    name: "decisions",
    isKey: isUuid,
    position: (row) => ({ createdAt: row.createdAt, key: row.id }),
    item: (row) => toDecision(row, nowMs()),
  };

  routes.get("/decisions", allow("read"), async (c) => {
    const page = parsePageRequest(c.req.url, list);
    const filter = parseFilter(c);
    const rows = await withPrincipal(database, c.get("principal"), (db) => selectDecisions(db, page, filter));
    return c.json(toPage(rows, page.limit, list));
  });

  routes.post("/decisions", allow("decide"), async (c) => {
    const principal = c.get("principal");
    const body = parseBody(newDecisionSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    if (isExpired(body.expires ?? null, nowMs())) {
      throw new InvalidBody([{ pointer: "/expires", detail: "has passed: expected a day or a time to come" }]);
    }
    const named = requireCheckName(body.check);
    if ("problem" in named) throw new InvalidBody([{ pointer: "/check", detail: named.problem }]);
    const decided = { ...body, check: named.check };
    const row = await withPrincipal(database, principal, (db) => insertDecision(db, principal, decided));
    const decision = toDecision(row, nowMs());
    afterResponse(c, announceDecision(decision, publishDecisionCreated));
    return c.json(decision, 201, { location: `/api/v1/decisions/${row.id}` });
  });

  routes.delete("/decisions/:id", allow("decide"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "decision");
    const { row, isChanged } = await withPrincipal(database, principal, (db) => withdrawDecision(db, principal, id));
    if (isChanged) afterResponse(c, announceDecision(toDecision(row, nowMs()), publishDecisionUpdated));
    return c.body(null, 204);
  });

  return routes;

  function announceDecision(decision: Decision, publish: Publish): Promise<void> {
    const channel = tenantChannel(decision.tenant_id);
    return announce(
      {
        publish: [(to) => publish(to, channel, decision)],
        failure: { fields: { decision_id: decision.id }, message: "a decision could not be published" },
      },
      { publisher, log },
    );
  }
}

const maxUrlLength = 2048;

/** Throws `AppError("malformed")`. */
function parseFilter(c: Context): DecisionFilter {
  const active = choiceParameter(c, "active", ["true", "false"]);
  return {
    isActive: active === null ? null : active === "true",
    kind: choiceParameter(c, "kind", ["waiver", "attestation"]),
    check: checkParameter(c),
    orgUrl: queryParameter(c, "org_url", {
      expected: "one address like https://acme.okta.com",
      parse: (text) => (text.length <= maxUrlLength && URL.canParse(text) ? text : undefined),
    }),
  };
}
