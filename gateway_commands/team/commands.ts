import type { Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { addExamples } from "../../command_line/examples.ts";
import { formats, toWhole } from "../options.ts";
import type { AuditListFlags } from "./audit_commands.ts";
import type { KeyCreateFlags } from "./key_commands.ts";
import type { FormatFlag } from "./resource_output.ts";

/** Who may do what in a tenant, for admins who have a key and no access to the gateway's database. */
export function addTeamCommands(program: Command, run: RunCommand): void {
  addMemberCommands(program, run);
  addKeyCommands(program, run);
  const audit = program.command("audit").description("show who did what in the tenant (needs a key with scope admin)");
  addExamples(audit, "scanstream audit list");
  addExamples(
    audit
      .command("list")
      .description("list the audit trail, newest first")
      .option("--limit <n>", "maximum number of entries", toWhole(1, 1_000_000), 50)
      .option("--action <action>", "only this action, such as member.created")
      .option("--actor <id>", "only what this JWT subject or API key did")
      .option("--target <id>", "only what was done to this member, key, scan, …")
      .option("--from <time>", "only from this time on, such as 2026-11-22T00:00:00Z")
      .option("--to <time>", "only before this time")
      .addOption(formats("table", "json", "ndjson"))
      .action((flags: AuditListFlags) =>
        run(async (io) => (await import("./audit_commands.ts")).auditListCommand(flags, io)),
      ),
    "scanstream audit list --action api_key.created --from 2026-11-01T00:00:00Z",
  );
}

function addMemberCommands(program: Command, run: RunCommand): void {
  const members = program.command("members").description("manage the tenant's members (needs a key with scope admin)");
  addExamples(members, "scanstream members list");
  addExamples(
    members
      .command("list")
      .description("list members, newest first")
      .addOption(formats("table", "json", "ndjson"))
      .action((flags: FormatFlag) =>
        run(async (io) => (await import("./member_commands.ts")).membersListCommand(flags, io)),
      ),
    "scanstream members list",
  );
  addExamples(
    members
      .command("remove")
      .description("remove a member; the member's streams close within 30 seconds")
      .argument("<sub>", "the member, as `members list` shows it")
      .action((sub: string) => run(async (io) => (await import("./member_commands.ts")).membersRemoveCommand(sub, io))),
    "scanstream members remove ann@acme.example",
  );
}

function addKeyCommands(program: Command, run: RunCommand): void {
  const keys = program.command("keys").description("manage the tenant's API keys (needs a key with scope admin)");
  addExamples(keys, "scanstream keys list");
  addExamples(
    keys
      .command("list")
      .description("list keys, newest first")
      .addOption(formats("table", "json", "ndjson"))
      .action((flags: FormatFlag) => run(async (io) => (await import("./key_commands.ts")).keysListCommand(flags, io))),
    "scanstream keys list",
  );
  addExamples(
    keys
      .command("create")
      .description("create a key; it is shown only once")
      .argument("<name>", "name that tells what the key is for")
      .option("--scopes <list>", "comma-separated: read, publish, admin (default: read,publish)")
      .option("--expires-at <time>", "expiry time, such as 2027-01-31T00:00:00Z (default: never)")
      .addOption(formats("text", "json"))
      .action((name: string, flags: KeyCreateFlags) =>
        run(async (io) => (await import("./key_commands.ts")).keysCreateCommand(name, flags, io)),
      ),
    'scanstream keys create "nightly scan" --scopes publish --expires-at 2027-01-31T00:00:00Z',
  );
  addExamples(
    keys
      .command("revoke")
      .description("revoke a key; its streams close within 30 seconds")
      .argument("<id>", "the key's id, as `keys list` shows it")
      .action((id: string) => run(async (io) => (await import("./key_commands.ts")).keysRevokeCommand(id, io))),
    "scanstream keys revoke 5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90",
  );
}
