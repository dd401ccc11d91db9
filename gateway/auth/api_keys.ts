import { AppError, type LoginProblem } from "../../shared/app_error.ts";
import { sha256Hex, toHex } from "./sha256.ts";

/**
 * Makes an API key: `scs_<8 hex>_<64 hex>`. The first part is public and identifies the key; the second is 256 random bits. It is
 * shown once. Only the SHA-256 of the whole key is stored, so a copy of the database opens nothing.
 */
export async function createApiKey() {
  const prefix = `scs_${toHex(crypto.getRandomValues(new Uint8Array(4)))}`;
  const apiKey = `${prefix}_${toHex(crypto.getRandomValues(new Uint8Array(32)))}`;
  return { apiKey, prefix, hash: await sha256Hex(apiKey) };
}

/** Anything else is refused without a query. */
export function isApiKey(text: string): boolean {
  return /^scs_[0-9a-f]{8}_[0-9a-f]{64}$/.test(text);
}

export function badKey(loginProblem: LoginProblem): AppError {
  return new AppError("not_authenticated", "The API key is not valid", { loginProblem });
}
