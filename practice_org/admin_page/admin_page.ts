import { randomBytes } from "node:crypto";
import { NotPossibleError } from "../not_possible_error.ts";
import type { Org } from "../org.ts";
import { isJsonObject } from "../../shared/json.ts";
import { admins } from "../log/admins.ts";
import { json, type PracticeRequest, type PracticeResponse } from "../http/messages.ts";
import { renderPage } from "./render_page.ts";
import { changes } from "../changes/admin_console.ts";
import type { LogEvent } from "../log/system_log.ts";

/** Changes by a person on this machine: the page at the org's root, and its form for programs. No part of the provider's API. */

const changePath = "/practice/change";

export function isAdminPath(path: string): boolean {
  return path === "/" || path === changePath;
}

export function answerAdminPage(request: PracticeRequest, org: Org): PracticeResponse {
  if (!isLoopbackHost(request.headers.get("host") ?? "")) return refuse(403, "Only for this machine");
  if (request.path === changePath) {
    if (request.method !== "POST") return refuse(405, "Expected POST");
    return isForeign(request) ? refuse(403, "Only for pages of this org") : answerChange(request, org);
  }
  if (request.method !== "GET") return refuse(405, "Expected GET");
  return showPage(request, org);
}

/** A page of another site can reach a port of this machine under its own name; it has another host then. */
function isLoopbackHost(host: string): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host);
}

/** Sent by a page of another origin. */
function isForeign({ headers }: PracticeRequest): boolean {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  return (
    (origin !== undefined && origin !== `http://${headers.get("host") ?? ""}`) ||
    (site !== undefined && !/^(?:same-origin|none)$/.test(site))
  );
}

/** A program sends JSON, the page its form. */
function answerChange(request: PracticeRequest, org: Org): PracticeResponse {
  const contentType = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (contentType === "application/json") {
    const body = parseBody(request.body);
    if (body === null) return refuse(400, `Expected {"name": "…"}, and "actor" if you like`);
    const made = makeChange(org, body);
    if ("problem" in made) return refuse(made.status, made.problem);
    const own = body.name === "app-created" ? { client_id: org.serviceApp.id } : {};
    return json(200, { events: made.events.map(({ eventType }) => ({ event_type: eventType })), ...own });
  }
  if (contentType !== "application/x-www-form-urlencoded") return refuse(415, "Expected JSON or the page's form");
  const form = new URLSearchParams(request.body);
  const name = form.get("name") ?? "";
  const actor = form.get("actor") ?? undefined;
  const made = makeChange(org, { name, actor, key: form.get("key") ?? undefined });
  const query = new URLSearchParams({
    ...(actor === undefined ? {} : { actor }),
    ...("problem" in made ? { problem: made.problem } : { done: name }),
  });
  return { status: 303, headers: [["location", `/?${query.toString()}`]], body: "" };
}

type Made = { readonly events: readonly LogEvent[] } | { readonly status: number; readonly problem: string };

interface Asked {
  readonly name: string;
  readonly actor: string | undefined;
  /** A public key that was pasted. */
  readonly key: string | undefined;
}

function makeChange({ console }: Org, { name, actor, key }: Asked): Made {
  try {
    return { events: console.change(name, actor, key) };
  } catch (error) {
    if (error instanceof NotPossibleError) return { status: 409, problem: error.message };
    if (error instanceof RangeError) return { status: 404, problem: error.message };
    throw error;
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function parseBody(text: string): Asked | null {
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return null;
    const { name, actor, key } = body;
    if (typeof name !== "string" || !isTextOrAbsent(actor) || !isTextOrAbsent(key)) return null;
    return { name, actor, key };
  } catch {
    return null;
  }
}

function showPage({ query }: PracticeRequest, org: Org): PracticeResponse {
  const nonce = randomBytes(16).toString("base64url");
  const done = changes.find(({ name }) => name === query.get("done"));
  const actor = admins.find(({ alternateId }) => alternateId === query.get("actor"))?.alternateId ?? null;
  const message = done === undefined ? (query.get("problem") ?? "") : `Done: ${done.label}`;
  const body = renderPage(org, { actor, nonce, message });
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["x-content-type-options", "nosniff"],
      ["referrer-policy", "same-origin"],
    ],
    body,
  };
}

function refuse(status: number, problem: string): PracticeResponse {
  return json(status, { error: problem });
}
