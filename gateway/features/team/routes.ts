import { Hono, type Context } from "hono";
import * as v from "valibot";
import { NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { instant } from "../../../shared/schemas/primitives.ts";
import {
  memberUpdateSchema,
  newApiKeySchema,
  newMemberSchema,
  subSchema,
} from "../../../shared/schemas/team_requests.ts";
import { withPrincipal } from "../../auth/membership.ts";
import { createAllow, type Allowed } from "../../http/allow.ts";
import { parseBody, readJson } from "../../http/body.ts";
import type { Dependencies } from "../../http/dependencies.ts";
import { parsePageRequest, toPage, type List } from "../../http/paging.ts";
import { pathId } from "../../http/path_id.ts";
import { InvalidBody } from "../../http/problem.ts";
import { queryParameter, textParameter } from "../../http/query_parameter.ts";
import { insertApiKey, revokeApiKey, selectApiKeys, toApiKey, type ApiKeyRow } from "./api_key_store.ts";
import { selectAuditEvents, toAuditEvent, type AuditFilter, type AuditRow } from "./audit_store.ts";
import { deleteMember, putMember, selectMembers, toMember, updateMember, type MemberRow } from "./member_store.ts";

const maxBodyBytes = 65_536;

const memberList: List<MemberRow, unknown> = {
  name: "members",
  isKey: (key) => v.is(subSchema, key),
  position: ({ createdAt, userId }) => ({ createdAt, key: userId }),
  item: toMember,
};

const apiKeyList: List<ApiKeyRow, unknown> = {
  name: "api_keys",
  isKey: isUuid,
  position: ({ createdAt, id }) => ({ createdAt, key: id }),
  item: toApiKey,
};

const auditList: List<AuditRow, unknown> = {
  name: "audit",
  isKey: (key) => /^\d{1,15}$/.test(key),
  position: ({ createdAt, number }) => ({ createdAt, key: String(number) }),
  item: toAuditEvent,
};

/** Who may what in a tenant, and who did what: members, API keys and the audit trail, as the gateway mounts them. */
export const team = { prefix: "team", routes: teamRoutes, eventStreams: {} };

function teamRoutes(dependencies: Dependencies): Hono<Allowed> {
  const { database, nowMs } = dependencies;
  const allow = createAllow(dependencies);
  const routes = new Hono<Allowed>();

  routes.get("/members", allow("manage"), async (c) => {
    const page = parsePageRequest(c.req.url, memberList);
    const rows = await withPrincipal(database, c.get("principal"), (db) => selectMembers(db, page));
    return c.json(toPage(rows, page.limit, memberList));
  });

  routes.post("/members", allow("appoint"), async (c) => {
    const principal = c.get("principal");
    const body = parseBody(newMemberSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const { member, isNew } = await withPrincipal(database, principal, (db) => putMember(db, principal, body));
    return c.json(member, isNew ? 201 : 200);
  });

  routes.patch("/members/:sub", allow("appoint"), async (c) => {
    const principal = c.get("principal");
    const sub = subOf(c);
    const { role } = parseBody(memberUpdateSchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    return c.json(await withPrincipal(database, principal, (db) => updateMember(db, principal, { sub, role })));
  });

  routes.delete("/members/:sub", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const sub = subOf(c);
    await withPrincipal(database, principal, (db) => deleteMember(db, principal, sub));
    return c.body(null, 204);
  });

  routes.get("/api-keys", allow("manage"), async (c) => {
    const page = parsePageRequest(c.req.url, apiKeyList);
    const rows = await withPrincipal(database, c.get("principal"), (db) => selectApiKeys(db, page));
    return c.json(toPage(rows, page.limit, apiKeyList));
  });

  routes.post("/api-keys", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const body = parseBody(newApiKeySchema, await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    if (body.expires_at !== null && Date.parse(body.expires_at) <= nowMs()) {
      throw new InvalidBody([{ pointer: "/expires_at", detail: "is in the past: expected a time to come" }]);
    }
    return c.json(await withPrincipal(database, principal, (db) => insertApiKey(db, principal, body)), 201);
  });

  routes.delete("/api-keys/:id", allow("manage"), async (c) => {
    const principal = c.get("principal");
    const id = pathId(c, "API key");
    await withPrincipal(database, principal, (db) => revokeApiKey(db, principal, id));
    return c.body(null, 204);
  });

  routes.get("/audit", allow("audit"), async (c) => {
    const page = parsePageRequest(c.req.url, auditList);
    const filter = parseAuditFilter(c);
    const rows = await withPrincipal(database, c.get("principal"), (db) => selectAuditEvents(db, { page, filter }));
    return c.json(toPage(rows, page.limit, auditList));
  });

  return routes;
}

/** What cannot be a subject names no member. */
function subOf(c: Context): string {
  const sub = c.req.param("sub");
  if (!v.is(subSchema, sub)) throw new NotFound("No such member");
  return sub;
}

const maxFilterLength = 255;

/** Throws `AppError("malformed")`. */
function parseAuditFilter(c: Context): AuditFilter {
  const text = (name: string) => textParameter(c, name, maxFilterLength);
  const time = (name: string) =>
    queryParameter(c, name, {
      expected: "one time like 2026-11-22T09:30:00Z",
      parse: (value) => (v.is(instant, value) ? new Date(value) : undefined),
    });
  return { action: text("action"), actor: text("actor"), target: text("target"), from: time("from"), to: time("to") };
}
