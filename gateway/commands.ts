import { InvalidArgumentError, Option, type Command } from "commander";
import type { GatewayIo } from "../command_line/command_io.ts";
import { addExamples } from "../command_line/examples.ts";
import { toLine, toPrintableJson } from "../shared/text.ts";
import type { AdminOperation } from "./admin/operations.ts";
import type { StreamOperation } from "./admin/stream_operations.ts";

type RunCommand = (command: (io: GatewayIo) => Promise<number>) => Promise<void>;

interface AdminFlags {
  readonly format: string;
  readonly [flag: string]: string;
}

/** The gateway's commands. Each loads its own code, so that `--help` is there at once. */
export function addGatewayCommands(program: Command, run: RunCommand): void {
  const serve = program
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
        if (processes === 1) return (await import("./runtime/main_node.ts")).serve(io);
        return (await import("./runtime/serve_processes.ts")).serveProcesses(io, processes);
      }),
    );
  addExamples(serve, "PORT=8787 scanstream serve", "scanstream serve --processes 4");
  const migrate = program
    .command("migrate")
    .description("apply the migrations to DATABASE_URL")
    .action(() => run(async (io) => (await import("./admin/migrate.ts")).migrateCommand(io)));
  addExamples(migrate, "DATABASE_URL=postgres://owner@db.example/scanstream scanstream migrate");

  const admin = program
    .command("admin")
    .description("tenants, users, API keys, audit trails, development tokens and open streams");
  addExamples(admin, "scanstream admin tenant list");
  for (const [group, description] of Object.entries(adminGroups)) {
    const parent = admin.command(group).description(description);
    const [first] = adminCommands.filter(({ operation }) => operation.startsWith(`${group}.`));
    if (first !== undefined) addExamples(parent, adminExample(first));
    for (const command of adminCommands.filter(({ operation }) => operation.startsWith(`${group}.`))) {
      addAdminCommand(parent, run, command);
    }
    if (group === "tenant") addTenantCommands(parent, run);
  }
}

const formats = ["text", "json"] as const;
type Format = (typeof formats)[number];

function formatOption(): Option {
  return new Option("--format <format>", "text or json").choices(formats).default("text");
}

/** What takes several operations, or a file. */
function addTenantCommands(tenant: Command, run: RunCommand): void {
  const deleteTenant = tenant
    .command("delete")
    .description("delete a tenant with everything that it has; its streams close within 30 s")
    .requiredOption(...tenantInput)
    .requiredOption("--confirm <name>", "the tenant's name, to say that it is meant")
    .addOption(formatOption())
    .action((flags: { readonly tenant: string; readonly confirm: string; readonly format: Format }) =>
      run(async (io) => (await import("./admin/tenant_commands.ts")).deleteTenantCommand(flags, io)),
    );
  addExamples(deleteTenant, `scanstream admin tenant delete ${tenantExample} --confirm "Acme Inc."`);
  const exportTenant = tenant
    .command("export")
    .description("write everything of a tenant to stdout, a line of JSON each, for `admin tenant import`")
    .requiredOption(...tenantInput)
    .addOption(new Option("--format <format>", "lines of JSON in either case").choices(formats).default("json"))
    .action((flags: { readonly tenant: string }) =>
      run(async (io) => (await import("./admin/tenant_commands.ts")).exportTenantCommand(flags, io)),
    );
  addExamples(exportTenant, `scanstream admin tenant export ${tenantExample} > acme.ndjson`);
  const importTenant = tenant
    .command("import")
    .description("take in an exported tenant under its own ids")
    .argument("<file>", "what `admin tenant export` or GET /api/v1/tenant/export wrote")
    .option("--name <name>", "another name than the exported one")
    .option("--into-existing", "add the file's members and rows to the tenant that is here under its id")
    .addOption(formatOption())
    .action(
      (file: string, flags: { readonly name?: string; readonly intoExisting?: boolean; readonly format: Format }) =>
        run(async (io) => (await import("./admin/tenant_commands.ts")).importTenantCommand({ file, ...flags }, io)),
    );
  addExamples(importTenant, "scanstream admin tenant import acme.ndjson");
}

interface AdminCommand {
  readonly operation: AdminOperation | StreamOperation;
  readonly description: string;
  /** `--flag <value>` or, as a positional argument, `<value>`; each required unless `isOptional`. */
  readonly inputs: readonly (readonly [usage: string, description: string, isOptional?: "optional"])[];
  /** What follows `scanstream admin …` in the example. */
  readonly example: string;
}

const adminGroups = {
  tenant: "tenants",
  user: "members of a tenant",
  "api-key": "API keys of a tenant",
  audit: "who did what in a tenant",
  token: "JWTs of the local development key",
  streams: "open streams of the running gateways",
};

const tenantInput = ["--tenant <id>", "the tenant's id, as `admin tenant list` shows it"] as const;
const subInput = ["--sub <sub>", "the `sub` claim of the user's JWTs"] as const;
const tenantExample = "--tenant 8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11";

const streamFilters: AdminCommand["inputs"] = [
  ["--tenant <id>", "only streams of this tenant", "optional"],
  ["--principal <id>", "only streams of this user (the `sub` claim) or API key (its id)", "optional"],
  ["--channel <name>", "only streams that follow this channel", "optional"],
];

const adminCommands: readonly AdminCommand[] = [
  {
    operation: "tenant.create",
    description: "make a tenant",
    inputs: [["--name <name>", "what people call it"]],
    example: '--name "Acme Inc."',
  },
  {
    operation: "tenant.rename",
    description: "give a tenant another name",
    inputs: [tenantInput, ["--name <name>", "what people call it from now on"]],
    example: `${tenantExample} --name "Acme Ltd."`,
  },
  { operation: "tenant.list", description: "list every tenant", inputs: [], example: "--format json" },
  {
    operation: "user.create",
    description: "make a JWT subject a member; again with another role: changes it",
    inputs: [tenantInput, subInput, ["--role <role>", "viewer, operator or admin; operator unless given", "optional"]],
    example: `${tenantExample} --sub ann@acme.example --role viewer`,
  },
  { operation: "user.list", description: "list a tenant's members", inputs: [tenantInput], example: tenantExample },
  {
    operation: "user.remove",
    description: "end a membership; the member's streams close within 30 s",
    inputs: [tenantInput, subInput],
    example: `${tenantExample} --sub ann@acme.example`,
  },
  {
    operation: "api-key.create",
    description: "make a key; it is shown once",
    inputs: [
      tenantInput,
      ["--name <name>", "what the key is for, to know it again in a list"],
      ["--scopes <list>", "of read, publish and admin; read,publish unless given", "optional"],
      ["--expires-at <time>", "such as 2027-01-31T00:00:00Z; never unless given", "optional"],
    ],
    example: `${tenantExample} --name "nightly scan" --scopes publish --expires-at 2027-01-31T00:00:00Z`,
  },
  {
    operation: "api-key.list",
    description: "list a tenant's keys",
    inputs: [tenantInput],
    example: tenantExample,
  },
  {
    operation: "api-key.revoke",
    description: "end a key; its streams close within 30 s",
    inputs: [["<id>", "the key's id, as `admin api-key list` shows it"]],
    example: "5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90",
  },
  {
    operation: "audit.list",
    description: "list the audit trail of a tenant, newest first",
    inputs: [tenantInput, ["--limit <n>", "how many at most, 50 unless given", "optional"]],
    example: `${tenantExample} --limit 200`,
  },
  {
    operation: "token.create",
    description: "make a JWT; only while no AUTH_JWKS… is set",
    inputs: [tenantInput, subInput, ["--ttl <seconds>", "how long it is valid, 3600 unless given", "optional"]],
    example: `${tenantExample} --sub ann@acme.example --ttl 900`,
  },
  {
    operation: "streams.list",
    description: "which streams are open, the slowest and then the oldest first",
    inputs: [
      ...streamFilters,
      ["--limit <n>", "how many are shown of each process and in all, 100 unless given", "optional"],
    ],
    example: `${tenantExample} --format json`,
  },
  {
    operation: "streams.close",
    description: "close streams over three seconds; their clients come back, unless their authority has ended",
    inputs: streamFilters,
    example: `${tenantExample} --principal ann@acme.example`,
  },
];

const maxProcesses = 256;

function parseProcesses(value: string): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= maxProcesses) return count;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${maxProcesses}.`);
}

function addAdminCommand(parent: Command, run: RunCommand, definition: AdminCommand): void {
  const { operation, inputs } = definition;
  const [, name = ""] = operation.split(".");
  const command = parent.command(name).description(definition.description);
  for (const [usage, description, isOptional] of inputs) {
    if (usage.startsWith("<")) command.argument(usage, description);
    else command.addOption(new Option(usage, description).makeOptionMandatory(isOptional === undefined));
  }
  command.addOption(formatOption());
  addExamples(command, adminExample(definition));
  command.action((...values: readonly unknown[]) =>
    run(async (io) => {
      const { format, ...flags } = command.opts<AdminFlags>();
      const args = command.registeredArguments.map((argument, at) => [argument.name(), String(values[at])] as const);
      const { runAdmin } = await import("./admin/call_admin.ts");
      const result = await runAdmin(io.env, operation, { ...flags, ...Object.fromEntries(args) });
      io.stdout(format === "json" ? `${toPrintableJson(result, 2)}\n` : toText(result));
      return 0;
    }),
  );
}

function adminExample({ operation, example }: AdminCommand): string {
  return `scanstream admin ${operation.replace(".", " ")} ${example}`;
}

/** Longer than every token. */
const maxValueLength = 10_000;

/** `name: value` lines, an empty line between two entries of a list; a list below a name is indented. */
function toText(result: unknown): string {
  if (Array.isArray(result)) return result.length === 0 ? "None\n" : result.map(toText).join("\n");
  if (typeof result !== "object" || result === null) return `${String(result)}\n`;
  return Object.entries(result)
    .map(([name, value]) =>
      Array.isArray(value) && value.some(isObject)
        ? `${name}:
${toText(value).replaceAll(/^(?=.)/gm, "  ")}`
        : `${name}: ${toLine(isObject(value) ? JSON.stringify(value) : String(value), maxValueLength)}
`,
    )
    .join("");
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
