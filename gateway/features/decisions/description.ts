import { pageOf } from "../../../shared/schemas/page.ts";
import { decisionSchema, newDecisionSchema } from "../../../shared/schemas/decision.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import {
  bodyRefusals,
  component,
  emptyResponse,
  json,
  jsonBody,
  listAnswer,
  pageParameters,
  pathParameter,
  problem,
  refusals,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const decisionId = "9b2f5f1c-3c51-4a8e-9a55-1f0d3a7c2e64";
const orgUrl = "https://acme.okta.com";
const newDecisionExample = {
  kind: "waiver",
  check: "apitoken_restricted_to_network_zone",
  resource: "00T1a2b3c4",
  reason: "Moves to the new network in January",
  expires: "2027-01-31",
  org_url: orgUrl,
};
const decisionExample = {
  id: decisionId,
  decision_id: decisionId,
  tenant_id: "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11",
  ...newDecisionExample,
  status: null,
  by: "ada@acme.example",
  by_kind: "user",
  state: "active",
  created_at: "2026-11-22T09:30:00.000Z",
  ended_at: null,
  ended_by: null,
  ended_scan_id: null,
};

const Decision = component("Decision", decisionSchema);
const DecisionPage = component("DecisionPage", pageOf(Decision));
const noSuchDecision = { 404: problem("No such decision in this tenant") };

export const decisionsDescription: FeatureDescription = {
  tags: [{ name: "decisions", description: "What people decided about findings: waivers and attestations" }],
  operations: {
    "GET /api/v1/decisions": {
      operationId: "listDecisions",
      tags: ["decisions"],
      summary: "List decisions, newest first",
      parameters: [
        {
          name: "active",
          in: "query",
          description: "true: the ones that hold now; false: the ones that ended or expired",
          schema: { type: "string", enum: ["true", "false"] },
        },
        { name: "kind", in: "query", schema: { type: "string", enum: ["waiver", "attestation"] } },
        { name: "check", in: "query", schema: { type: "string", minLength: 1, maxLength: 200 } },
        {
          name: "org_url",
          in: "query",
          description: "Of this organization, and those about every one",
          schema: { type: "string", format: "uri", pattern: "^https?://[a-z0-9.-]+$", maxLength: 2048 },
        },
        ...pageParameters,
      ],
      responses: listAnswer(DecisionPage, decisionExample),
    },
    "POST /api/v1/decisions": {
      operationId: "createDecision",
      tags: ["decisions"],
      summary: "Waive or attest",
      description:
        "Counts in every later scan with `--decisions-from-gateway`. The author is the caller. A waiver leaves the status of " +
        "its findings and takes them out of the exit code. An attestation answers for a whole check where the API shows too " +
        "little; a scan that is registered after it and completes with a FAIL of the check ends it.",
      requestBody: jsonBody(newDecisionSchema, newDecisionExample),
      responses: {
        201: json(Decision, "Decided", { headers: ["Location"], example: decisionExample }),
        ...bodyRefusals,
        409: problem("The same is decided already, and holds: its id is in `detail`"),
      },
    },
    "DELETE /api/v1/decisions/:id": {
      operationId: "withdrawDecision",
      tags: ["decisions"],
      summary: "Withdraw a decision",
      description: "It stays in the list, as one that ended.",
      parameters: [pathParameter("id", "The decision's id", uuid())],
      responses: {
        204: emptyResponse("Withdrawn now, or ended before"),
        ...refusals(401, 403, 503),
        ...noSuchDecision,
      },
    },
  },
  channels: [],
};
