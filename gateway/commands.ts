import { InvalidArgumentError, Option, type Command } from "commander";
import type { AdminOperation } from "./admin.ts";

/** What a gateway command may touch beside its arguments. */
export interface GatewayIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: (text: string) => void;
  readonly terminal: { write(text: string): void };
  /** Aborts on SIGINT and SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Aborts on SIGINT, and on the second signal: nothing is to be waited for on behalf of load balancers. */
  readonly hurried: AbortSignal;
}

type RunCommand = (command: (io: GatewayIo) => Promise<number>) => Promise<void>;

interface AdminFlags {
  readonly format: string;
  readonly [flag: string]: string;
}

/** The gateway's commands. Each loads its own code, so that `--help` is there at once. */
export function addGatewayCommands(program: Command, run: RunCommand): void {
  program
    .command("serve")
    .description("the gateway on Node; settings come from the environment (HOST, PORT, DATABASE_URL, …)")
    .option(
      "--processes <n>",
      "as many processes on one port, each with its own share of the streams",
      parseProcesses,
      1,
    )
    .action(({ processes }: { readonly processes: number }) =>
      run(async (io) => {
        if (processes === 1) return (await import("./main_node.ts")).serve(io);
        return (await import("./serve_processes.ts")).serveProcesses(io, processes);
      }),
    );
  program
    .command("migrate")
    .description("apply the migrations to DATABASE_URL")
    .action(() => run(async (io) => (await import("./migrate.ts")).migrateCommand(io)));

  const admin = program.command("admin").description("tenants, users, API keys and development tokens");
  const tenant = admin.command("tenant").description("tenants");
  addAdminCommand(tenant, run, "tenant.create", "create --name <name>", "make a tenant");
  addAdminCommand(tenant, run, "tenant.list", "list", "list every tenant");
  const user = admin.command("user").description("members of a tenant");
  addAdminCommand(user, run, "user.create", "create --tenant <id> --sub <sub>", "make a JWT subject a member");
  addAdminCommand(user, run, "user.remove", "remove --tenant <id> --sub <sub>", "end a membership");
  const key = admin.command("api-key").description("API keys of a tenant");
  addAdminCommand(key, run, "api-key.create", "create --tenant <id> --name <name>", "make a key; it is shown once");
  addAdminCommand(key, run, "api-key.list", "list --tenant <id>", "list a tenant's keys");
  addAdminCommand(key, run, "api-key.revoke", "revoke <id>", "end a key; its streams close within 30 s");
  const token = admin.command("token").description("JWTs of the local development key");
  addAdminCommand(
    token,
    run,
    "token.create",
    "create --tenant <id> --sub <sub> [--ttl <seconds>]",
    "make a JWT; only while no AUTH_JWKS… is set",
  );
}

const maxProcesses = 256;

function parseProcesses(value: string): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= maxProcesses) return count;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${maxProcesses}.`);
}

/** `usage` is the whole shape of the command: its name, required options, optional ones in brackets, arguments. */
function addAdminCommand(
  parent: Command,
  run: RunCommand,
  operation: AdminOperation,
  usage: string,
  description: string,
): void {
  const [name = ""] = usage.split(" ");
  const command = parent.command(name).description(description);
  for (const [, optional, flag, value] of usage.matchAll(/(\[)?--([a-z]+) <([a-z]+)>/g)) {
    if (flag === undefined || value === undefined) continue;
    const option = new Option(`--${flag} <${value}>`);
    command.addOption(optional === undefined ? option.makeOptionMandatory() : option);
  }
  const argument = /^\w+ <(\w+)>$/.exec(usage)?.[1];
  if (argument !== undefined) command.argument(`<${argument}>`);
  command.addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"));
  command.action((...values: readonly unknown[]) =>
    run(async (io) => {
      const { format, ...flags } = command.opts<AdminFlags>();
      const args = argument === undefined ? flags : { ...flags, [argument]: String(values[0]) };
      const { runAdmin } = await import("./admin.ts");
      const result = await runAdmin(io.env, operation, args);
      io.stdout(format === "json" ? `${JSON.stringify(result, null, 2)}\n` : toText(result));
      return 0;
    }),
  );
}

/** `name: value` lines, an empty line between two entries of a list. */
function toText(result: unknown): string {
  if (Array.isArray(result)) return result.length === 0 ? "None\n" : result.map(toText).join("\n");
  if (typeof result !== "object" || result === null) return `${String(result)}\n`;
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${String(value)}\n`)
    .join("");
}
