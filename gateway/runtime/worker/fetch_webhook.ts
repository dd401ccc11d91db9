import { readBeginning } from "../../features/webhooks/answer_text.ts";
import { maxAnswerBytes, type ReceiverAnswer, type WebhookRequest } from "../../features/webhooks/attempt.ts";

/** Sends webhooks on Workers, whose `fetch` reaches the public internet and nothing else. */
export async function fetchWebhook({ url, headers, body, signal }: WebhookRequest): Promise<ReceiverAnswer> {
  const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
  if (response.ok) {
    void response.body?.cancel().catch(() => {}); // The status is all that counts.
    return { status: response.status, text: "" };
  }
  return { status: response.status, text: await readBeginning(response.body, maxAnswerBytes) };
}
