import type { ClaimedDelivery } from "../../../drizzle/across_tenants.ts";
import { networkProblem } from "../../../shared/error_code.ts";
import { toLine } from "../../../shared/text.ts";
import { targetProblem, type TargetRules } from "./address.ts";
import { toBody } from "./payload.ts";
import { signatureHeaders } from "./signature.ts";

/** One request to a receiver, as each runtime makes it. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface ReceiverAnswer {
  readonly status: number;
  /** The beginning of its body, at most `maxAnswerBytes`. */
  readonly text: string;
}

/**
 * POSTs and reads the beginning of the answer. Follows no redirect, and connects to no address that the rules refuse: what a name
 * leads to is looked at for each request, and the connection goes to what was looked at. Rejects when there is no answer.
 */
export type SendWebhook = (request: WebhookRequest) => Promise<ReceiverAnswer>;

/** What is read of an answer. */
export const maxAnswerBytes = 1024;

export type AttemptResult =
  | { readonly kind: "delivered" | "gone"; readonly status: number; readonly error: null }
  | { readonly kind: "failed"; readonly status: number | null; readonly error: string }
  /** The gateway stopped in the meantime: it does not count. */
  | { readonly kind: "interrupted" };

export interface AttemptOptions {
  readonly send: SendWebhook;
  readonly rules: TargetRules;
  readonly nowMs: () => number;
  readonly timeoutMs: number;
  /** Aborts when the gateway stops. */
  readonly stopped: AbortSignal;
}

/** Sends a delivery once. Never rejects. */
export async function attemptDelivery(delivery: ClaimedDelivery, options: AttemptOptions): Promise<AttemptResult> {
  const { send, rules, nowMs, timeoutMs, stopped } = options;
  // The rules may have become stricter since the webhook was made.
  const problem = targetProblem(delivery.url, rules);
  if (problem !== null) return failed(null, `The URL ${problem}`);
  const body = toBody(delivery);
  const timestamp = Math.floor(nowMs() / 1000);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const headers = {
      "content-type": "application/json",
      "user-agent": "scanstream",
      ...(await signatureHeaders({ id: delivery.id, timestamp, body }, delivery.secrets)),
    };
    return judge(await send({ url: delivery.url, headers, body, signal: AbortSignal.any([timeout, stopped]) }));
  } catch (error) {
    if (stopped.aborted) return { kind: "interrupted" };
    return failed(null, timeout.aborted ? `No answer within ${timeoutMs / 1000} s` : messageOf(error));
  }
}

function judge({ status, text }: ReceiverAnswer): AttemptResult {
  if (status >= 200 && status < 300) return { kind: "delivered", status, error: null };
  if (status === 410) return { kind: "gone", status, error: null };
  if (status >= 300 && status < 400) return failed(status, `HTTP ${status}: redirects are not followed`);
  return failed(status, text.trim() === "" ? `HTTP ${status}` : `HTTP ${status}: ${text.trim()}`);
}

function failed(status: number | null, error: string): AttemptResult {
  return { kind: "failed", status, error: toLine(error, maxErrorLength) };
}

const maxErrorLength = 300;

function messageOf(error: unknown): string {
  const problem = networkProblem(error);
  if (problem !== null) return `The request failed: ${problem}`;
  return (error instanceof Error && error.message) || "The request failed";
}

/** After this many seconds a failed delivery is sent again; after the last of them it is dead. */
const retryDelaysSeconds = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 8 * 3600] as const;

/**
 * In how many seconds a delivery that has failed so often is sent again; null: never. Up to a tenth later than the schedule says,
 * so that what failed at once does not come back at once.
 */
export function retryDelaySeconds(failures: number, random: () => number): number | null {
  const delay = retryDelaysSeconds[failures - 1];
  return delay === undefined ? null : delay * (1 + random() / 10);
}
