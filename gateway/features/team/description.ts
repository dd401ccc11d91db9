import type * as v from "valibot";
import { pageOf } from "../../../shared/schemas/page.ts";
import { instant, text, uuid } from "../../../shared/schemas/primitives.ts";
import { apiKeySchema, auditEventSchema, createdApiKeySchema, memberSchema } from "../../../shared/schemas/team.ts";
import {
  memberUpdateSchema,
  newApiKeySchema,
  newMemberSchema,
  subSchema,
} from "../../../shared/schemas/team_requests.ts";
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
  toInlineSchema,
  type FeatureDescription,
} from "../../http/docs/feature_description.ts";

const at = "2026-11-22T09:30:00.000Z";
const memberExample = { sub: "ann@acme.example", role: "viewer", created_at: at };
const newApiKeyExample = { name: "nightly scan", scopes: ["publish"], expires_at: "2027-01-31T00:00:00.000Z" };
const apiKeyExample = {
  id: "5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90",
  ...newApiKeyExample,
  prefix: "scs_1f2e3d4c",
  created_at: at,
};
const auditExample = {
  number: 4711,
  created_at: at,
  actor: { kind: "user", id: "ada@acme.example", name: null },
  action: "member.updated",
  target: { type: "member", id: "ann@acme.example", name: null },
  detail: { role: { from: "operator", to: "viewer" } },
};

const Member = component("Member", memberSchema);
const ApiKey = component("ApiKey", apiKeySchema);
const AuditEvent = component("AuditEvent", auditEventSchema);
const MemberPage = component("MemberPage", pageOf(Member));
const ApiKeyPage = component("ApiKeyPage", pageOf(ApiKey));
const AuditPage = component("AuditPage", pageOf(AuditEvent));
const CreatedApiKey = component("CreatedApiKey", createdApiKeySchema);

const ofMember = [pathParameter("sub", "The member's `sub`, percent-encoded", subSchema)];
const noSuchMember = { 404: problem("No such member in this tenant") };
const lockedOut = { 409: problem("The tenant's last admin, or the caller's own role") };
const filter = (name: string, description: string, schema: v.GenericSchema) => ({
  name,
  in: "query" as const,
  description,
  schema: toInlineSchema(schema),
});

export const teamDescription: FeatureDescription = {
  tags: [
    { name: "members", description: "Who may do what; for admins" },
    { name: "api keys", description: "What programs sign in with; for admins" },
    { name: "audit", description: "Who did what; for admins" },
  ],
  channels: [],
  operations: {
    "GET /api/v1/members": {
      operationId: "listMembers",
      tags: ["members"],
      summary: "List members, newest first",
      parameters: pageParameters,
      responses: listAnswer(MemberPage, memberExample),
    },
    "POST /api/v1/members": {
      operationId: "addMember",
      tags: ["members"],
      summary: "Make somebody a member, or change their role",
      requestBody: jsonBody(newMemberSchema, { sub: memberExample.sub, role: "viewer" }),
      responses: {
        200: json(Member, "Is a member already; has the role now, where one was named", { example: memberExample }),
        201: json(Member, "A new member", { example: memberExample }),
        ...bodyRefusals,
        ...lockedOut,
      },
    },
    "PATCH /api/v1/members/:sub": {
      operationId: "updateMember",
      tags: ["members"],
      summary: "Change a member's role",
      description: "Counts from the next request on.",
      parameters: ofMember,
      requestBody: jsonBody(memberUpdateSchema, { role: "viewer" }),
      responses: {
        200: json(Member, "The member now", { example: memberExample }),
        ...bodyRefusals,
        ...noSuchMember,
        ...lockedOut,
      },
    },
    "DELETE /api/v1/members/:sub": {
      operationId: "removeMember",
      tags: ["members"],
      summary: "Remove a member",
      description: "Counts from the next request on; open streams close within 30 s.",
      parameters: ofMember,
      responses: { 204: emptyResponse("Removed"), ...refusals(401, 403, 503), ...noSuchMember, ...lockedOut },
    },
    "GET /api/v1/api-keys": {
      operationId: "listApiKeys",
      tags: ["api keys"],
      summary: "List API keys, newest first, revoked ones too",
      parameters: pageParameters,
      responses: listAnswer(ApiKeyPage, { ...apiKeyExample, last_used_at: at, revoked_at: null }),
    },
    "POST /api/v1/api-keys": {
      operationId: "createApiKey",
      tags: ["api keys"],
      summary: "Make an API key, which is shown this once",
      description:
        "An admin may give every scope; a key gives scopes that it has itself, and for no longer than it is valid.",
      requestBody: jsonBody(newApiKeySchema, newApiKeyExample),
      responses: {
        201: json(CreatedApiKey, "The key", {
          example: { ...apiKeyExample, api_key: `scs_1f2e3d4c_${"0123456789abcdef".repeat(4)}` },
        }),
        ...bodyRefusals,
        403: problem("Not permitted, or more than the key that asks has itself"),
      },
    },
    "DELETE /api/v1/api-keys/:id": {
      operationId: "revokeApiKey",
      tags: ["api keys"],
      summary: "Revoke an API key",
      description: "For good; counts from the next request on, and open streams close within 30 s.",
      parameters: [pathParameter("id", "The key's id", uuid())],
      responses: {
        204: emptyResponse("Revoked, now or before"),
        ...refusals(401, 403, 503),
        404: problem("No such API key in this tenant"),
        409: problem("The key that asks"),
      },
    },
    "GET /api/v1/audit": {
      operationId: "listAuditEvents",
      tags: ["audit"],
      summary: "List who did what, newest first",
      parameters: [
        ...pageParameters,
        filter("action", "Such as `member.created`", text(1, 255)),
        filter("actor", "A token's `sub` or an API key's id", text(1, 255)),
        filter("target", "What it was done to: a member's `sub`, or an id", text(1, 255)),
        filter("from", "From then on", instant),
        filter("to", "Before then", instant),
      ],
      responses: listAnswer(AuditPage, auditExample),
    },
  },
};
