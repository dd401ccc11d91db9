import { Hono } from "hono";
import * as v from "valibot";
import { isUuid } from "../../../shared/channel_name.ts";
import { apiKeySchema, createdApiKeySchema, memberSchema } from "../../../shared/schemas/team.ts";
import { auditEventSchema, memberUpdateSchema, newApiKeySchema, newMemberSchema, subSchema } from "./team_schemas.ts";
import { component, json, problem } from "../../description/operation.ts";
import type { Allowed } from "../../http/allow.ts";
import { defineFeature } from "../features.ts";
import { isNumber, listByTime } from "../../http/query.ts";
import { invalidField } from "../../http/problem.ts";
import { defineResource } from "../../http/resource.ts";
import { insertApiKey, revokeApiKey, selectApiKeys, toApiKey } from "./api_key_store.ts";
import { auditQuery, selectAuditEvents, toAuditEvent } from "./audit_store.ts";
import { deleteMember, putMember, selectMembers, toMember, updateMember } from "./member_store.ts";

const Member = component("Member", memberSchema);
const lockedOut = {
  409: problem("The tenant's last admin, the caller's own role, or more members than a tenant may have"),
};

/** Members, API keys and the audit trail, as the gateway mounts them. */
export const team = defineFeature({
  prefix: "team",
  tags: [
    { name: "members", description: "Members and their roles; for admins" },
    { name: "api keys", description: "API keys for programs; for admins" },
    { name: "audit", description: "The audit trail; for admins" },
  ],
  routes: teamRoutes,
});

function teamRoutes(): Hono<Allowed> {
  const routes = new Hono<Allowed>();
  defineMembers(routes);
  defineApiKeys(routes);
  defineAudit(routes);
  return routes;
}

function defineMembers(routes: Hono<Allowed>): void {
  const members = defineResource(
    {
      tag: "members",
      what: "member",
      // A text that cannot be a subject names no member.
      id: { name: "sub", description: "The member's `sub`, percent-encoded", schema: subSchema },
    },
    routes,
  );

  members.list("GET /members", "listMembers", {
    allow: "manage",
    summary: "List members, newest first",
    list: listByTime(toMember, "userId", (key) => v.is(subSchema, key)),
    of: [Member, "MemberPage"],
    select: ({ page, readOne }) => readOne((db) => selectMembers(db, page)),
  });

  members.on("POST /members", "addMember", {
    allow: "appoint",
    summary: "Add a member, or change the role of a member",
    body: { schema: newMemberSchema, example: { sub: "ann@acme.example", role: "viewer" } },
    answers: {
      200: json(Member, "Already a member; has the given role now"),
      201: json(Member, "A new member"),
      ...lockedOut,
    },
    handle: async ({ c, principal, body, write }) => {
      const { member, isNew } = await write((db) => putMember(db, principal, body));
      return c.json(member, isNew ? 201 : 200);
    },
  });

  members.on("PATCH /members/:sub", "updateMember", {
    allow: "appoint",
    summary: "Change a member's role",
    description: "Applies from the next request on.",
    body: { schema: memberUpdateSchema, example: { role: "viewer" } },
    answers: { 200: json(Member, "The member now"), ...lockedOut },
    handle: ({ principal, id: sub, body: { role }, write }) =>
      write((db) => updateMember(db, principal, { sub, role })),
  });

  members.on("DELETE /members/:sub", "removeMember", {
    allow: "manage",
    summary: "Remove a member",
    description: "Applies from the next request on; open streams close within 30 s.",
    answers: { 204: { description: "Removed" }, ...lockedOut },
    handle: ({ principal, id: sub, write }) => write((db) => deleteMember(db, principal, sub)),
  });
}

function defineApiKeys(routes: Hono<Allowed>): void {
  const apiKeys = defineResource({ tag: "api keys", what: "API key" }, routes);

  apiKeys.list("GET /api-keys", "listApiKeys", {
    allow: "manage",
    summary: "List API keys, newest first, revoked ones too",
    list: listByTime(toApiKey, "id", isUuid),
    of: [component("ApiKey", apiKeySchema), "ApiKeyPage"],
    select: ({ page, readOne }) => readOne((db) => selectApiKeys(db, page)),
  });

  apiKeys.on("POST /api-keys", "createApiKey", {
    allow: "appoint",
    summary: "Create an API key; it is shown only once",
    body: {
      schema: newApiKeySchema,
      example: { name: "nightly scan", scopes: ["publish"], expires_at: "2027-01-31T00:00:00.000Z" },
    },
    answers: {
      201: json(component("CreatedApiKey", createdApiKeySchema), "The key"),
      409: problem("The tenant has as many keys as it may"),
    },
    handle: async ({ principal, body, write }) => {
      if (body.expires_at !== null && Date.parse(body.expires_at) <= Date.now()) {
        throw invalidField("/expires_at", "in the past: expected a future time");
      }
      return write((db) => insertApiKey(db, principal, body));
    },
  });

  apiKeys.on("DELETE /api-keys/:id", "revokeApiKey", {
    allow: "manage",
    summary: "Revoke an API key",
    description: "Cannot be undone. Applies from the next request on; open streams close within 30 s.",
    answers: { 204: { description: "Revoked now or earlier" }, 409: problem("The calling key") },
    handle: ({ principal, id, write }) => write((db) => revokeApiKey(db, principal, id)),
  });
}

function defineAudit(routes: Hono<Allowed>): void {
  const audit = defineResource({ tag: "audit", what: "audit event" }, routes);
  audit.list("GET /audit", "listAuditEvents", {
    allow: "manage",
    summary: "List the audit trail, newest first",
    query: auditQuery,
    list: listByTime(toAuditEvent, "number", isNumber),
    of: [component("AuditEvent", auditEventSchema), "AuditPage"],
    select: ({ page, parameters, readOne }) => readOne((db) => selectAuditEvents(db, page, parameters)),
  });
}
