import type { Hono } from "hono";
import { isUuid } from "../../../shared/channel_name.ts";
import { isExpired, toExpires } from "../../../shared/decisions/expiry.ts";
import { decisionSchema, newDecisionSchema, type Decision } from "../../../shared/schemas/decision.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import { requireCheckName } from "../../../shared/rule_names.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { defineFeature, type FeatureDependencies } from "../features.ts";
import { listByTime } from "../../http/query.ts";
import { invalidField } from "../../http/problem.ts";
import { defineResource } from "../../http/resource.ts";
import { afterResponse, announcing, tenantChannel } from "../announce.ts";
import { decisionQuery, insertDecision, selectDecisions, toDecision, withdrawDecision } from "./decision_store.ts";

const newDecisionExample = {
  kind: "waiver",
  check: "apitoken_restricted_to_network_zone",
  resource: "00T1a2b3c4",
  reason: "Moves to the new network in January",
  expires: "2027-01-31",
  org_url: "https://acme.okta.com",
};

const Decision = component("Decision", decisionSchema);

/** Waivers and attestations, as the gateway mounts them. */
export const decisions = defineFeature({
  // No channel has it: decisions are published on their tenant's.
  prefix: "decision",
  tags: [{ name: "decisions", description: "Waivers and attestations" }],
  routes: decisionRoutes,
});

/** The events of decisions on a tenant's stream, each after it was stored. */
const decisionEvents = ({ sendEvent }: Publisher) => ({
  publishDecisionCreated: (channel: string, payload: Decision) => sendEvent(channel, "decision.created", payload),
  publishDecisionUpdated: (channel: string, payload: Decision) => sendEvent(channel, "decision.updated", payload),
});

function decisionRoutes(dependencies: FeatureDependencies): Hono<Allowed> {
  const { publishDecisionCreated, publishDecisionUpdated } = decisionEvents(announcing(dependencies));
  const resource = defineResource({ tag: "decisions", what: "decision" });

  resource.list("GET /decisions", "listDecisions", {
    allow: "read",
    summary: "List decisions, newest first",
    query: decisionQuery,
    list: listByTime(toDecision, "id", isUuid),
    of: [Decision, "DecisionPage"],
    select: ({ page, parameters, readOne }) => readOne((db) => selectDecisions(db, page, parameters)),
  });

  resource.on("POST /decisions", "createDecision", {
    allow: "decide",
    summary: "Waive or attest",
    description:
      "Applies to every later scan with `--decisions-from-gateway`. The author is the caller. A waiver leaves the status of " +
      "its findings and takes them out of the exit code. An attestation answers for a whole check where the API shows too " +
      "little; a scan that is registered after it and completes with a FAIL of the check ends it.",
    body: { schema: newDecisionSchema, example: newDecisionExample },
    answers: {
      201: json(Decision, "Decided", ["Location"]),
      404: problem("`replaces` names no decision of the same kind, check and organization"),
      409: problem("The same decision exists and is active (`detail` has its id), or the one to replace has ended"),
    },
    handle: async ({ c, principal, body, write }) => {
      if (isExpired(toExpires(body.expires), Date.now())) {
        throw invalidField("/expires", "in the past: expected a future day or time");
      }
      const named = requireCheckName(body.check);
      if ("problem" in named) throw invalidField("/check", named.problem);
      const { row, replaced } = await write((db) => insertDecision(db, principal, { ...body, check: named.check }));
      const decision = toDecision(row);
      const channel = tenantChannel(row.tenantId);
      if (replaced !== undefined) afterResponse(c, publishDecisionUpdated(channel, toDecision(replaced)));
      afterResponse(c, publishDecisionCreated(channel, decision));
      c.header("location", `/api/v1/decisions/${row.id}`);
      return decision;
    },
  });

  resource.on("DELETE /decisions/:id", "withdrawDecision", {
    allow: "decide",
    summary: "Withdraw a decision",
    description: "The list keeps it, as an ended decision.",
    answers: { 204: { description: "Withdrawn now, or ended earlier" } },
    handle: async ({ c, principal, id, write }) => {
      const { row, isChanged } = await write((db) => withdrawDecision(db, principal, id));
      if (isChanged) afterResponse(c, publishDecisionUpdated(tenantChannel(row.tenantId), toDecision(row)));
    },
  });

  return resource.routes;
}
