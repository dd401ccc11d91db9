import { Argument, Option, type Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";
import { offering } from "../command_line/completion/offered_values.ts";
import { addExamples } from "../command_line/examples.ts";

const profiles = ["typical", "compliant", "directory", "empty", "classic", "edge", "large:1000"];
const roles = ["read-only", "custom", "super", "none"];

/** An option that completion offers these values for; the first one is the default. */
function choice(flags: string, description: string, values: readonly string[]): Option {
  return offering(new Option(flags, description).default(values[0]), "one", values);
}

/** `practice-org`: it loads its own code, so that `--help` is there at once. */
export function addPracticeOrgCommand(program: Command, run: RunCommand): void {
  const practiceOrg = program
    .command("practice-org")
    .description("start a local Okta simulator")
    .option("--port <n>", "port on 127.0.0.1, where practice-org change finds it; 0: any free port", "8788")
    .addOption(
      choice(
        "--profile <name>",
        "org to simulate: typical, compliant, directory, empty, classic, edge or large:N",
        profiles,
      ),
    )
    .addOption(choice("--role <role>", "what the service application may see: read-only, custom, super or none", roles))
    .addOption(
      offering(
        new Option("--fault <fault...>", "inject a fault, as NAME or NAME:/path; --fault help lists them"),
        "one",
        async () => {
          const { faultNames } = await import("./api/faults.ts");
          return [...Object.entries(faultNames), ["help", ""] as const].map(([value, description]) => ({
            value,
            description,
          }));
        },
      ),
    )
    .option("--latency <ms>", "delay of each response", "0")
    .option("--drift <seconds>", "change a random setting at this interval")
    .option("--fresh", "begin without a service app, to try scanstream setup")
    .option("--writable", "add a second service app, for Terraform, that may change settings")
    .option("--state <dir>", "directory for the key and client id", ".scanstream/practice-org")
    .action((flags) => run(async (io) => (await import("./practice_org_command.ts")).practiceOrgCommand(flags, io)));
  addExamples(
    practiceOrg,
    "scanstream practice-org --profile typical --role super",
    "scanstream practice-org -p 8788 --fault server-error:/api/v1/apps --latency 200",
  );
  const change = practiceOrg
    .command("change")
    .description("change a setting of a running practice org, like an admin in the Admin Console")
    .addArgument(
      offering(
        new Argument("<name...>", "names of changes to make in this order; list shows all names"),
        "one",
        async () => {
          const { signInName } = await import("./changes/admin_console.ts");
          const { settings } = await import("./changes/settings.ts");
          const changes = settings.flatMap((setting) => setting.changes);
          return [...changes.map(({ name, label }) => ({ value: name, description: label })), signInName, "list"];
        },
      ),
    )
    .option("--url <url>", "the org's address (default: the org that was started last in this folder)")
    .option("--as <login>", "the admin who makes the change: alex, dana or sam@practice.example (default: alex)")
    .action((names: readonly string[], flags) => {
      // The parser takes these for the command above, wherever they stand: ignored, the change would go to another org.
      const { port, state } = practiceOrg.opts();
      const chosen = practiceOrg.getOptionValueSource("port") === "cli" ? { url: `http://127.0.0.1:${port}` } : {};
      return run(async (io) =>
        (await import("./change_command.ts")).changeCommand(names, { state, ...chosen, ...flags }, io),
      );
    });
  addExamples(
    change,
    "scanstream practice-org change list",
    "scanstream practice-org change CHANGE --as dana@practice.example",
  );
}
