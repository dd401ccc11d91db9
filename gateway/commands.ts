import { Option, type Command } from "commander";
import type { GatewayIo } from "../command_line/command_io.ts";
import { addExamples } from "../command_line/examples.ts";
import { isJsonObject } from "../shared/json.ts";
import { toLine, toPrintableJson } from "../shared/text.ts";
import type { AdminOperation } from "./operator/operations.ts";

type RunCommand = (command: (io: GatewayIo) => Promise<number>) => Promise<void>;

interface AdminFlags {
  readonly format: string;
  readonly [flag: string]: string;
}

/** The gateway's commands. Each loads its own code, so that `--help` is there at once. */
export function addGatewayCommands(program: Command, run: RunCommand): void {
  const serve = program
    .command("serve")
    .description("start the gateway (HOST, PORT, DATABASE_URL)")
    .action(() =>
      run(async (io) => {
        const [{ serve }, { nodeHttp }] = await Promise.all([
          import("./runtime/serve.ts"),
          import("./runtime/node_http.ts"),
        ]);
        return serve(io, nodeHttp);
      }),
    );
  addExamples(serve, "PORT=8787 scanstream serve");
  const migrate = program
    .command("migrate")
    .description("apply the migrations to DATABASE_URL")
    .action(() => run(async (io) => (await import("./operator/migrate.ts")).migrateCommand(io)));
  addExamples(migrate, "DATABASE_URL=postgres://owner@db.example/scanstream scanstream migrate");

  const admin = program.command("admin").description("tenants, users, API keys, audit trail, tokens");
  addExamples(admin, "scanstream admin tenant list");
  const names = Object.keys(adminCommands) as readonly AdminOperation[];
  for (const [group, description] of Object.entries(adminGroups)) {
    const parent = admin.command(group).description(description);
    const operations = names.filter((operation) => operation.startsWith(`${group}.`));
    for (const operation of operations.slice(0, 1)) addExamples(parent, adminExample(operation));
    for (const operation of operations) addAdminCommand(parent, run, operation);
    if (group === "tenant") addExportCommand(parent, run);
  }
}

const formats = ["text", "json"];

function addExportCommand(tenant: Command, run: RunCommand): void {
  const exportTenant = tenant
    .command("export")
    .description("write all data of a tenant to stdout as NDJSON")
    .requiredOption(...tenantInput)
    .addOption(new Option("--format <format>", "the output is always NDJSON").choices(formats).default("json"))
    .action((flags: { readonly tenant: string }) =>
      run(async (io) => (await import("./operator/call_admin.ts")).exportTenantCommand(flags, io)),
    );
  addExamples(exportTenant, `scanstream admin tenant export ${tenantExample} > acme.ndjson`);
}

interface AdminCommand {
  readonly description: string;
  /** `--flag <value>` or, as a positional argument, `<value>`; each required unless `isOptional`. */
  readonly inputs: readonly (readonly [usage: string, description: string, isOptional?: "optional"])[];
  /** The example, after `scanstream admin …`. */
  readonly example: string;
}

const adminGroups = {
  tenant: "manage tenants",
  user: "manage the members of a tenant",
  "api-key": "manage the API keys of a tenant",
  audit: "show the audit trail of a tenant",
  token: "create JWTs with the local development key",
};

const tenantInput = ["--tenant <id>", "the tenant's id, as `admin tenant list` shows it"] as const;
const subInput = ["--sub <sub>", "the `sub` claim of the user's JWTs"] as const;
const tenantExample = "--tenant 8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11";

const adminCommands: Readonly<Record<AdminOperation, AdminCommand>> = {
  "tenant.create": {
    description: "create a tenant",
    inputs: [["--name <name>", "name of the tenant"]],
    example: '--name "Acme Inc."',
  },
  "tenant.rename": {
    description: "rename a tenant",
    inputs: [tenantInput, ["--name <name>", "new name of the tenant"]],
    example: `${tenantExample} --name "Acme Ltd."`,
  },
  "tenant.list": { description: "list every tenant", inputs: [], example: "--format json" },
  "tenant.delete": {
    description: "delete a tenant and all its data; its streams close within 30 seconds",
    inputs: [tenantInput, ["--confirm <name>", "the tenant's name, as confirmation"]],
    example: `${tenantExample} --confirm "Acme Inc."`,
  },
  "user.create": {
    description: "make a JWT subject a member, or change the role of a member",
    inputs: [tenantInput, subInput, ["--role <role>", "viewer, operator or admin (default: operator)", "optional"]],
    example: `${tenantExample} --sub ann@acme.example --role viewer`,
  },
  "user.list": { description: "list a tenant's members", inputs: [tenantInput], example: tenantExample },
  "user.remove": {
    description: "remove a member; the member's streams close within 30 seconds",
    inputs: [tenantInput, subInput],
    example: `${tenantExample} --sub ann@acme.example`,
  },
  "api-key.create": {
    description: "create a key; it is shown only once",
    inputs: [
      tenantInput,
      ["--name <name>", "name that tells what the key is for"],
      ["--scopes <list>", "comma-separated: read, publish, admin (default: read,publish)", "optional"],
      ["--expires-at <time>", "expiry time, such as 2027-01-31T00:00:00Z (default: never)", "optional"],
    ],
    example: `${tenantExample} --name "nightly scan" --scopes publish --expires-at 2027-01-31T00:00:00Z`,
  },
  "api-key.list": { description: "list a tenant's keys", inputs: [tenantInput], example: tenantExample },
  "api-key.revoke": {
    description: "revoke a key; its streams close within 30 seconds",
    inputs: [["<id>", "the key's id, as `admin api-key list` shows it"]],
    example: "5d0c5f7e-6f0b-4d5b-8f43-2a7f6f0f5a90",
  },
  "audit.list": {
    description: "list the audit trail of a tenant, newest first",
    inputs: [tenantInput, ["--limit <n>", "maximum number of entries (default: 50)", "optional"]],
    example: `${tenantExample} --limit 200`,
  },
  "token.create": {
    description: "create a JWT with the development key; only while AUTH_JWKS and AUTH_JWKS_URL are unset",
    inputs: [tenantInput, subInput, ["--ttl <seconds>", "lifetime (default: 3600)", "optional"]],
    example: `${tenantExample} --sub ann@acme.example --ttl 900`,
  },
};

function addAdminCommand(parent: Command, run: RunCommand, operation: AdminOperation): void {
  const definition = adminCommands[operation];
  const [, name = ""] = operation.split(".");
  const command = parent.command(name).description(definition.description);
  for (const [usage, description, isOptional] of definition.inputs) {
    if (usage.startsWith("<")) command.argument(usage, description);
    else command.addOption(new Option(usage, description).makeOptionMandatory(isOptional === undefined));
  }
  command.addOption(new Option("--format <format>", "text or json").choices(formats).default("text"));
  addExamples(command, adminExample(operation));
  command.action((...values: readonly unknown[]) =>
    run(async (io) => {
      const { format, ...flags } = command.opts<AdminFlags>();
      const args = command.registeredArguments.map((argument, at) => [argument.name(), String(values[at])] as const);
      const { runAdmin } = await import("./operator/call_admin.ts");
      const result = await runAdmin(io.env, operation, { ...flags, ...Object.fromEntries(args) });
      io.stdout(format === "json" ? `${toPrintableJson(result, 2)}\n` : toText(result));
      return 0;
    }),
  );
}

function adminExample(operation: AdminOperation): string {
  return `scanstream admin ${operation.replace(".", " ")} ${adminCommands[operation].example}`;
}

/** Longer than every token. */
const maxValueLength = 10_000;

/** `name: value` lines, an empty line between two entries of a list; a list below a name is indented. */
function toText(result: unknown): string {
  if (Array.isArray(result)) return result.length === 0 ? "Nothing found\n" : result.map(toText).join("\n");
  if (typeof result !== "object" || result === null) return `${String(result)}\n`;
  return Object.entries(result)
    .map(([name, value]) =>
      Array.isArray(value) && value.some(isJsonObject)
        ? `${name}:\n${toText(value).replaceAll(/^(?=.)/gm, "  ")}`
        : `${name}: ${toLine(isJsonObject(value) ? JSON.stringify(value) : String(value), maxValueLength)}\n`,
    )
    .join("");
}
