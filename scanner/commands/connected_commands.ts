import type { Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { wordsOption } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import type { FollowFlags } from "./follow_options.ts";
import { keepHeapSmallest } from "./keep_heap_small.ts";
import type { DoctorFlags } from "./doctor_command.ts";
import type { SetupFlags } from "./setup_command.ts";
import {
  addConnectionOptions,
  addJudgingOptions,
  addOneOrganizationOptions,
  addSeveralOrganizationsOptions,
  addVerbosityOptions,
  failOnOption,
  signOption,
  textOrJson,
  verboseOption,
} from "./option_groups.ts";

/** The commands that talk to an org until they are done, or for as long as they run. */
export function addConnectedCommands(program: Command, run: RunCommand): void {
  const setup = program
    .command("setup")
    .description("connect an Okta org: make a key, show what to click, and check each click")
    .option("--org-url <url>", "address of the Okta org, such as acme.okta.com")
    .option("--client-id <id>", "client id of the service app, if it exists already")
    .option("--config <file>", "configuration file to write (default: scanstream.config.json)")
    .option("--yes", "no questions and no scan: check once, and exit 2 if something is left to do");
  addExamples(setup, "scanstream setup", "scanstream setup --org-url acme.okta.com --client-id 0oa1b2c3d4 --yes");
  setup.action((flags: SetupFlags) => run(async (io) => (await import("./setup_command.ts")).setupCommand(flags, io)));

  const doctor = program
    .command("doctor")
    .description("test the connection, scopes and role, and show what to fix")
    .addOption(textOrJson());
  addSeveralOrganizationsOptions(doctor);
  addConnectionOptions(doctor);
  doctor.addOption(verboseOption());
  addExamples(
    doctor,
    "scanstream doctor",
    "scanstream doctor -v --org-url https://acme.okta.com",
    "scanstream doctor --org acme",
  );
  doctor.action((flags: DoctorFlags) =>
    run(async (io) => (await import("./doctor_command.ts")).doctorCommand(flags, io)),
  );

  const follow = program
    .command("follow")
    .description("watch the org; report each change that alters a result, and who made it")
    .option("--state <dir>", "directory for saved state (default: .scanstream/follow)")
    .option("--interval <seconds>", "time between two polls of the System Log (default: 10)")
    .option("--reconcile <hours>", "time between two full scans (default: 6)")
    .option("--once", "catch up from the saved state, then exit")
    .option("--until-clean", "exit 0 as soon as no check fails")
    .addOption(
      failOnOption(
        "exit 1 when a new finding of this kind appears: fail, manual, never, fail:high, … (default: never)",
      ),
    )
    .addOption(wordsOption("--format <format>", "table or ndjson (default: table)", "one", ["table", "ndjson"]))
    .option("--output <file>", "also append every line to this NDJSON file, for `history`")
    .addOption(signOption())
    .option("--with-addresses", "include the IP address of who made a change")
    .option("--no-stream", "do not send the monitor to the gateway");
  addOneOrganizationOptions(follow);
  addConnectionOptions(follow);
  addJudgingOptions(follow);
  addVerbosityOptions(follow);
  addExamples(follow, "scanstream follow", "scanstream follow -i 30 -f ndjson --fail-on fail:high");
  follow.action((flags: FollowFlags) =>
    run(async (io) => {
      keepHeapSmallest();
      const of = await (await import("./organizations/one_organization.ts")).forOrganization(flags, io);
      return (await import("./follow_command.ts")).followCommand(of.flags, of.io);
    }),
  );
}
