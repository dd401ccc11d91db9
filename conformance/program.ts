import { defaultHeartbeatSeconds } from "../shared/heartbeat.ts";
import { Command, InvalidArgumentError } from "commander";
import { formats, toWhole } from "../gateway_commands/options.ts";
import type { RunCommand } from "../command_line/command_io.ts";
import { addExamples } from "../command_line/examples.ts";
import type { ConformanceFlags } from "./client/client_command.ts";
import type { LoadFlags } from "./load/load_command.ts";

/** The tools for clients and gateways, which are run from a checkout. Each command loads its own code. */
export function createConformanceProgram(run: RunCommand): Command {
  const program = new Command("conformance")
    .description("Check clients of event streams, and running gateways")
    .showSuggestionAfterError()
    .exitOverride();
  const client = program
    .command("client")
    .description("try a client of any language against scripted streams, and say what a right one does")
    .argument("[command...]", "after --: starts the client, once for each case; without it, clients come by themselves")
    .option("--port <n>", "port on 127.0.0.1; 0: any free one", toWhole(0, 65_535), 0)
    .option("--case <names>", "only these cases or groups, separated by commas")
    .option("--list", "show the cases, run nothing")
    .option("--heartbeat-seconds <n>", "between two heartbeats of a stream", toSeconds, defaultHeartbeatSeconds)
    .addOption(formats("text", "json"))
    .action((command: readonly string[], flags: ConformanceFlags) =>
      run(async (io) => (await import("./client/client_command.ts")).clientCommand(command, flags, io)),
    );
  addExamples(client, "npm run conformance -- client -- python3 my_client.py");
  const gateway = program
    .command("gateway")
    .description("check the promises of a running gateway, as far as they can be seen from outside")
    .argument("<url>", "the gateway's address")
    .argument("[words]", "only the cases that have these words in their names")
    .action((url: string, words: string | undefined) =>
      run(async (io) => (await import("./gateway/gateway_command.ts")).gatewayCommand(url, words ?? "", io)),
    );
  addExamples(gateway, "CONFORMANCE_API_KEY=scs_… npm run conformance -- gateway http://127.0.0.1:8787");
  gateway.addHelpText(
    "after",
    `
Variables:
  CONFORMANCE_API_KEY           required: an API key of a tenant that is there for this, with all scopes
                                (scanstream admin api-key create --scopes read,publish,admin …)
  CONFORMANCE_TOKEN             a JWT of an operator or admin of the same tenant
  CONFORMANCE_STRANGER_API_KEY  an API key of another tenant, with all scopes
  CONFORMANCE_ORIGIN            an origin of CORS_ORIGINS
  CONFORMANCE_RUNTIME           "workers" for a gateway on Workers, which cannot see empty headers

The command registers scans of its tenant and ends or abandons them. Cases that need something that is not given are
counted and named, not passed.`,
  );
  const load = program
    .command("load")
    .description("load-test your own gateway: report rates, refusals and lost events")
    .argument("<url>", "the gateway's address")
    .option("--streams <n>", "how many", toWhole(1, 20_000), 100)
    .option("--seconds <n>", "how long they are held after they were opened", toWhole(1, 3600), 30)
    .option("--scan <id>", "follow this scan; default: everything of the tenant")
    .option(
      "--publish <n>",
      "register a scan, follow it, and publish as many numbered events a second",
      toWhole(0, 1000),
      0,
    )
    .option("--allow-remote", "a gateway that is not on this machine")
    .addOption(formats("text", "json"))
    .action((url: string, flags: LoadFlags) =>
      run(async (io) => (await import("./load/load_command.ts")).loadCommand(url, flags, io)),
    );
  addExamples(load, "SCANSTREAM_API_KEY=scs_… npm run load -- http://127.0.0.1:8787 --streams 1000 --publish 10");
  return program;
}

function toSeconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0.1 && value <= 60) return value;
  throw new InvalidArgumentError("Expected seconds from 0.1 to 60.");
}
