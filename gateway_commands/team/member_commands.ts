import type { CommandIo } from "../../command_line/command_io.ts";
import { changeCommand, field, listCommand, type FormatFlag } from "./resource_output.ts";

const path = "/api/v1/members";

/** `members list` */
export function membersListCommand({ format }: FormatFlag, io: CommandIo): Promise<number> {
  const columns = { SUB: field("sub"), ROLE: field("role"), CREATED: field("created_at") };
  return listCommand({ what: "members", path, format, columns }, io);
}

/** `members remove SUB` */
export function membersRemoveCommand(sub: string, io: CommandIo): Promise<number> {
  const problems = sub === "" ? ["SUB: expected the member's sub, as `members list` shows it"] : [];
  const one = `${path}/${encodeURIComponent(sub)}`;
  const what = { what: "remove the member", done: `Removed ${JSON.stringify(sub)}: open streams close within 30 s` };
  return changeCommand({ ...what, method: "DELETE", path: one, problems }, io);
}
