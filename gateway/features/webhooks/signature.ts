import { fromBase64, toBase64 } from "../../../shared/base64.ts";

/** Signatures and secrets of webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */

const prefix = "whsec_";
const secretBytes = 32;

export function createSecret(): string {
  return prefix + toBase64(crypto.getRandomValues(new Uint8Array(secretBytes)));
}

export interface SignedMessage {
  readonly id: string;
  /** When it is sent, in seconds since the epoch: a receiver refuses what is old. */
  readonly timestamp: number;
  readonly body: string;
}

/** The three headers of a message, signed with each secret: while a secret is being replaced a receiver may have either. */
export async function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, signed)));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.map((signature) => `v1,${signature}`).join(" "),
  };
}

async function sign(secret: string, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = fromBase64(secret.slice(prefix.length));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)));
}
