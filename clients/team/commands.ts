import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { roleSchema } from "../../shared/schemas/team.ts";
import { formats, toWhole } from "../options.ts";
import type { AuditListFlags } from "./audit_commands.ts";
import type { KeyCreateFlags } from "./key_commands.ts";
import type { MemberAddFlags } from "./member_commands.ts";
import type { FormatFlag } from "./resource_output.ts";

/** Who may do what in a tenant, for admins who have a key and no access to the gateway's database. */
export function addTeamCommands(program: Command, run: RunCommand): void {
  addMemberCommands(program, run);
  addKeyCommands(program, run);
  program
    .command("audit")
    .description("who did what in the tenant, with a key that has the scope admin")
    .command("list")
    .description("list the audit trail, newest first")
    .option("--limit <n>", "how many at most", toWhole(1, 1_000_000), 50)
    .option("--action <action>", "only this action, such as member.created")
    .option("--actor <id>", "only what this JWT subject or API key did")
    .option("--target <id>", "only what was done to this member, key, scan, …")
    .option("--from <time>", "only since then, such as 2026-11-22T00:00:00Z")
    .option("--to <time>", "only before then")
    .addOption(formats("table", "json", "ndjson"))
    .addHelpText("after", "\nExample:\n  $ scanstream audit list --action api_key.created --from 2026-11-01T00:00:00Z")
    .action((flags: AuditListFlags) =>
      run(async (io) => (await import("./audit_commands.ts")).auditListCommand(flags, io)),
    );
}

function addMemberCommands(program: Command, run: RunCommand): void {
  const members = program.command("members").description("the tenant's members, with a key that has the scope admin");
  members
    .command("list")
    .description("list members, newest first")
    .addOption(formats("table", "json", "ndjson"))
    .addHelpText("after", "\nExample:\n  $ scanstream members list")
    .action((flags: FormatFlag) =>
      run(async (io) => (await import("./member_commands.ts")).membersListCommand(flags, io)),
    );
  members
    .command("add")
    .description("make a JWT subject a member; again with another role: changes it")
    .argument("<sub>", "the `sub` claim of the person's tokens")
    .addOption(
      new Option("--role <role>", "viewer, operator or admin; operator unless given").choices(roleSchema.options),
    )
    .addOption(formats("text", "json"))
    .addHelpText("after", "\nExample:\n  $ scanstream members add ann@acme.example --role viewer")
    .action((sub: string, flags: MemberAddFlags) =>
      run(async (io) => (await import("./member_commands.ts")).membersAddCommand(sub, flags, io)),
    );
  members
    .command("remove")
    .description("end a membership; the member's streams close within 30 s")
    .argument("<sub>", "the member, as `members list` shows it")
    .addHelpText("after", "\nExample:\n  $ scanstream members remove ann@acme.example")
    .action((sub: string) => run(async (io) => (await import("./member_commands.ts")).membersRemoveCommand(sub, io)));
}

function addKeyCommands(program: Command, run: RunCommand): void {
  const keys = program.command("keys").description("the tenant's API keys, with a key that has the scope admin");
  keys
    .command("list")
    .description("list keys, newest first")
    .addOption(formats("table", "json", "ndjson"))
    .addHelpText("after", "\nExample:\n  $ scanstream keys list")
    .action((flags: FormatFlag) => run(async (io) => (await import("./key_commands.ts")).keysListCommand(flags, io)));
  keys
    .command("create")
    .description("make a key; it is shown once")
    .argument("<name>", "what the key is for, to know it again in a list")
    .option("--scopes <list>", "of read, publish and admin, with commas; read,publish unless given")
    .option("--expires-at <time>", "such as 2027-01-31T00:00:00Z; never unless given")
    .addOption(formats("text", "json"))
    .addHelpText(
      "after",
      '\nExample:\n  $ scanstream keys create "nightly scan" --scopes publish --expires-at 2027-01-31T00:00:00Z',
    )
    .action((name: string, flags: KeyCreateFlags) =>
      run(async (io) => (await import("./key_commands.ts")).keysCreateCommand(name, flags, io)),
    );
  keys
    .command("revoke")
    .description("end a key; its streams close within 30 s")
    .argument("<id>", "the key's id, as `keys list` shows it")
    .addHelpText("after", "\nExample:\n  $ scanstream keys revoke 5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90")
    .action((id: string) => run(async (io) => (await import("./key_commands.ts")).keysRevokeCommand(id, io)));
}
