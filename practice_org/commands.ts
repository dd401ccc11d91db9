import { Argument, Option, type Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";
import { offering } from "../command_line/completion/offered_values.ts";
import { addExamples } from "../command_line/examples.ts";

/** `practice-org`: it loads its own code, so that `--help` is there at once. */
export function addPracticeOrgCommand(program: Command, run: RunCommand): void {
  const practiceOrg = program
    .command("practice-org")
    .description("a local identity provider to practise on")
    .option("--port <n>", "port on 127.0.0.1; 0: any free one", "0")
    .addOption(
      offering(
        new Option(
          "--profile <name>",
          "which org to imitate: typical, compliant, empty, narrow, classic, unclear, edge or large:N",
        ).default("typical"),
        "one",
        () => Promise.resolve(["typical", "compliant", "empty", "narrow", "classic", "unclear", "edge", "large:1000"]),
      ),
    )
    .addOption(
      offering(
        new Option("--role <role>", "what the service application may see: read-only, super or none").default(
          "read-only",
        ),
        "one",
        () => Promise.resolve(["read-only", "super", "none"]),
      ),
    )
    .addOption(
      offering(
        new Option("--fault <fault...>", "break answers, as NAME or NAME:/path; --fault help lists them"),
        "one",
        async () => {
          const { faultNames } = await import("./api/faults.ts");
          return [...Object.entries(faultNames).map(([value, description]) => ({ value, description })), "help"];
        },
      ),
    )
    .option("--latency <ms>", "delay of every answer", "0")
    .option("--drift <seconds>", "change something at random, again and again")
    .option("--writable", "take what the Terraform provider writes, from a client of the role super")
    .option("--state <dir>", "where key and client id are kept", ".scanstream/practice-org")
    .action((flags) => run(async (io) => (await import("./practice_org_command.ts")).practiceOrgCommand(flags, io)));
  addExamples(
    practiceOrg,
    "scanstream practice-org --profile typical --role super",
    "scanstream practice-org -p 8788 --fault server-error:/api/v1/apps --latency 200",
  );
  const change = practiceOrg
    .command("change")
    .description("change a running practice org, as a person in its Admin Console would")
    .addArgument(
      offering(
        new Argument("<name...>", "names of changes, made in this order; list: all of them"),
        "one",
        async () => {
          const { settings, signInName } = await import("./changes/org_changes.ts");
          const changes = settings.flatMap((setting) => setting.changes);
          return [...changes.map(({ name, label }) => ({ value: name, description: label })), signInName, "list"];
        },
      ),
    )
    .option("--url <url>", "the org's address", "http://127.0.0.1:8788")
    .option("--as <login>", "the admin who makes the change: alex, dana or sam@practice.example (default: alex)")
    .action((names: readonly string[], flags) =>
      run(async (io) => (await import("./change_command.ts")).changeCommand(names, flags, io)),
    );
  addExamples(
    change,
    "scanstream practice-org change list",
    "scanstream practice-org change CHANGE --as dana@practice.example",
  );
}
