import { PermissionDenied } from "../../shared/app_error.ts";
import type { Principal } from "./principal.ts";

/** For routes that store results or publish events: programs do that, with a key. */
export function requireApiKey(principal: Principal): void {
  if (principal.kind !== "api_key") throw new PermissionDenied("This is for API keys only");
}
