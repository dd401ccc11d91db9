import { oktaId } from "../contents/new_objects.ts";
import type { LogActor } from "./system_log.ts";

/** The administrators of the Admin Console: one of them makes each change. */
export const admins: readonly LogActor[] = [
  admin("alex@practice.example", "Alex Admin"),
  admin("dana@practice.example", "Dana Duty"),
  admin("sam@practice.example", "Sam Security"),
];

/** Finds an admin by login; the first one if none is named. Throws a `RangeError` for any other login. */
export function adminOf(login?: string): LogActor {
  const found = login === undefined ? admins[0] : admins.find(({ alternateId }) => alternateId === login);
  if (found !== undefined) return found;
  const logins = admins.map(({ alternateId }) => alternateId).join(", ");
  throw new RangeError(`Cannot act as ${JSON.stringify(login)}: expected one of ${logins}`);
}

/** A service application that changes the org through the API. */
export function clientActor(clientId: string, label: string): LogActor {
  return {
    id: clientId,
    type: "PublicClientAppEntity",
    alternateId: clientId,
    displayName: label,
    detailEntry: null,
  };
}

function admin(login: string, displayName: string): LogActor {
  return { id: oktaId("00u", login), type: "User", alternateId: login, displayName, detailEntry: null };
}
