import type { Command } from "commander";
import type { RunCommand } from "../command_line/command_io.ts";

/** `practice-org`: it loads its own code, so that `--help` is there at once. */
export function addPracticeOrgCommand(program: Command, run: RunCommand): void {
  const practiceOrg = program
    .command("practice-org")
    .description("a local identity provider to practise on")
    .option("--port <n>", "port on 127.0.0.1; 0: any free one", "0")
    .option("--profile <name>", "compliant, typical, empty or large:N", "typical")
    .option("--role <role>", "what the service application may see: read-only, super or none", "read-only")
    .option("--fault <fault...>", "break answers, as NAME or NAME:/path; --fault help lists them")
    .option("--latency <ms>", "delay of every answer", "0")
    .option("--drift <seconds>", "change something at random, again and again")
    .option("--writable", "take what the Terraform provider writes, from a client of the role super")
    .option("--state <dir>", "where key and client id are kept", ".scanstream/practice-org")
    .action((flags) => run(async (io) => (await import("./practice_org_command.ts")).practiceOrgCommand(flags, io)));
  practiceOrg
    .command("change")
    .description("change a running practice org, as a person in its Admin Console would")
    .argument("<name...>", "names of changes, made in this order; list: all of them")
    .option("--url <url>", "the org's address", "http://127.0.0.1:8788")
    .option("--as <login>", "the admin who makes the change: alex, dana or sam@practice.example (default: alex)")
    .action((names: readonly string[], flags) =>
      run(async (io) => (await import("./change_command.ts")).changeCommand(names, flags, io)),
    );
}
