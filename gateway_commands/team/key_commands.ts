import type { CommandIo } from "../../command_line/command_io.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { scopeSchema } from "../../shared/schemas/team.ts";
import type { Resource } from "../gateway_api.ts";
import { changeCommand, field, listCommand, type FormatFlag } from "./resource_output.ts";

export interface KeyCreateFlags extends FormatFlag {
  /** Separated by commas. */
  readonly scopes?: string;
  readonly expiresAt?: string;
}

const path = "/api/v1/api-keys";
const scopes: readonly string[] = scopeSchema.options;

/** `keys list` */
export function keysListCommand({ format }: FormatFlag, io: CommandIo): Promise<number> {
  const columns = {
    KEY: field("id"),
    PREFIX: field("prefix"),
    SCOPES: (key: Resource) => (Array.isArray(key["scopes"]) ? key["scopes"].map(String).join(",") : ""),
    CREATED: field("created_at"),
    EXPIRES: field("expires_at"),
    "LAST USED": field("last_used_at"),
    REVOKED: field("revoked_at"),
    NAME: field("name"),
  };
  return listCommand({ what: "keys", path, format, columns }, io);
}

/** `keys create NAME`: the key itself is in the answer, this once. */
export function keysCreateCommand(name: string, flags: KeyCreateFlags, io: CommandIo): Promise<number> {
  const wanted = flags.scopes?.split(",").map((scope) => scope.trim());
  const body = {
    name,
    ...(wanted === undefined ? {} : { scopes: [...new Set(wanted)] }),
    ...(flags.expiresAt === undefined ? {} : { expires_at: flags.expiresAt }),
  };
  const problems =
    wanted === undefined || wanted.every((scope) => scopes.includes(scope))
      ? []
      : [`--scopes ${JSON.stringify(flags.scopes)}: expected ${scopes.join(", ")}, or several with commas`];
  return changeCommand({ what: "create the key", method: "POST", path, body, problems, format: flags.format }, io);
}

/** `keys revoke ID` */
export function keysRevokeCommand(id: string, io: CommandIo): Promise<number> {
  const problems = isUuid(id)
    ? []
    : [`ID ${JSON.stringify(id)}: expected the UUID of a key, as \`keys list\` shows it`];
  const done = `Revoked ${id}: its open streams close within 30 s`;
  return changeCommand({ what: "revoke the key", method: "DELETE", path: `${path}/${id}`, problems, done }, io);
}
