import { catalog, type CatalogCheck } from "../../scanner/catalog/catalog.ts";
import { defaultScopes } from "../../scanner/settings/values.ts";
import { createCollection } from "../../scanner/evidence/collect.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import { sha256 } from "../../scanner/digest.ts";
import { HttpIdpClient } from "../../scanner/okta/http_idp_client.ts";
import type { CheckResult } from "../../shared/report.ts";
import { Refused, type OrgAnswers } from "../verdicts/generated_orgs.ts";
import { context } from "./artifact_builders.ts";

export interface JudgeOptions {
  readonly checks?: readonly CatalogCheck[];
  /** Entries on each page of a list; by default all. */
  readonly pageSize?: number;
}

/**
 * Judges an organization in memory: the real client, collectors and checks over a table instead of a network, so that
 * thousands of organizations cost seconds.
 */
export async function judgeOrg(org: OrgAnswers, options: JudgeOptions = {}): Promise<readonly CheckResult[]> {
  return (await scanOrg(org, options)).results;
}

/** As `judgeOrg`, with the evidence. */
export async function scanOrg(org: OrgAnswers, options: JudgeOptions = {}) {
  const { checks = catalog, pageSize } = options;
  const collection = createCollection(tableClient(org, pageSize ?? Number.POSITIVE_INFINITY));
  const results: readonly CheckResult[] = await Promise.all(
    checks.map(async (check) =>
      evaluateCheck(check, await collection.obtainFor(check), { ...context, digest: sha256 }),
    ),
  );
  return { results, artifacts: collection.artifacts() };
}

function tableClient(org: OrgAnswers, pageSize: number): HttpIdpClient {
  // Retries, tokens and pacing have tests of their own; below the client is only this table.
  const login = { granted: scopes, get: async (path: string) => answerTo(org, path, pageSize) };
  return new HttpIdpClient({ orgUrl: context.orgUrl, login, scopePrefix: "okta" });
}

const scopes = defaultScopes.map((scope) => `okta.${scope}`);

function answerTo(org: OrgAnswers, path: string, pageSize: number) {
  const asked = path.replace(/[?&]after=\d+$/, "");
  const from = Number(/[?&]after=(\d+)$/.exec(path)?.[1] ?? 0);
  const whole = Object.hasOwn(org, asked) ? org[asked] : new Refused(404);
  if (whole instanceof Refused) {
    if (whole.list === null || from > 0) return answer(whole.status, { errorCode: "E0000009" });
    return answer(200, whole.list, nextLink(asked, whole.list.length));
  }
  if (!Array.isArray(whole) || whole.length <= pageSize) return answer(200, whole);
  const until = from + pageSize;
  return answer(200, whole.slice(from, until), until < whole.length ? nextLink(asked, until) : null);
}

function nextLink(path: string, after: number): string {
  return `<${context.orgUrl}${path}${path.includes("?") ? "&" : "?"}after=${after}>; rel="next"`;
}

function answer(status: number, body: unknown, link: string | null = null) {
  const headers = link === null ? noHeaders : new Headers({ link });
  return { status, headers, body: textOf(body), receivedAtMs: 0, window: null };
}

const noHeaders = new Headers();
/** An organization is judged many times with one answer changed. */
const texts = new WeakMap<object, string>();

function textOf(body: unknown): string {
  if (typeof body !== "object" || body === null) return JSON.stringify(body);
  const text = texts.get(body) ?? JSON.stringify(body);
  texts.set(body, text);
  return text;
}
