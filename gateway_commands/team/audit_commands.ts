import type { CommandIo } from "../../command_line/command_io.ts";
import { field, listCommand, type FormatFlag } from "./resource_output.ts";

export interface AuditListFlags extends FormatFlag {
  readonly limit: number;
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
}

/** `audit list` */
export function auditListCommand({ format, limit, ...filters }: AuditListFlags, io: CommandIo): Promise<number> {
  const query = new URLSearchParams(filters);
  const path = query.size === 0 ? "/api/v1/audit" : `/api/v1/audit?${query}`;
  const columns = {
    TIME: field("created_at"),
    ACTION: field("action"),
    TARGET: field("target", "id"),
    BY: field("actor", "kind"),
    ACTOR: field("actor", "id"),
  };
  return listCommand({ what: "audit events", path, format, columns, limit }, io);
}
