import { createHmac, timingSafeEqual } from "node:crypto";
import { parseJsonObject, type JsonObject } from "../../shared/json.ts";

/**
 * A message between operator and gateways: producers may hold the broker's password too, and are no operators, so each is
 * sealed with the gateways' own secret. The prefix keeps the seal apart from everything else that this secret signs.
 */
export function sealMessage(secret: string, message: object): string {
  const json = JSON.stringify(message);
  return `${sealOf(secret, json)} ${json}`;
}

/** Null for a message that was sealed with another secret, or is no message. */
export function openSealed(secret: string, text: string): JsonObject | null {
  const seal = text.slice(0, sealLength);
  const json = text.slice(sealLength + 1);
  if (seal.length !== sealLength || !timingSafeEqual(Buffer.from(sealOf(secret, json)), Buffer.from(seal, "latin1"))) {
    return null;
  }
  return parseJsonObject(json);
}

/** SHA-256 in hex. */
const sealLength = 64;

function sealOf(secret: string, json: string): string {
  return createHmac("sha256", secret).update(`scanstream operator\n${json}`).digest("hex");
}
