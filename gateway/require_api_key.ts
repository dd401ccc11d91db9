import { PermissionDenied } from "../shared/app_error.ts";
import type { Principal } from "./principal.ts";

/** For routes of producers: what a person may see, a person may not make up. */
export function requireApiKey(principal: Principal): void {
  if (principal.kind !== "api_key") throw new PermissionDenied("This is for API keys only");
}
