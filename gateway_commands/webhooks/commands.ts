import { Option, type Command } from "commander";
import type { RunCommand } from "../../command_line/command_io.ts";
import { offering } from "../../command_line/completion/offered_values.ts";
import { addExamples } from "../../command_line/examples.ts";
import { deliveryStatuses, webhookEvents } from "../../shared/webhook_names.ts";
import { formats, toWhole } from "../options.ts";
import type { FormatFlag } from "../team/resource_output.ts";
import type { DeliveriesFlags, WebhookAddFlags } from "./webhook_commands.ts";

const webhookId = "5f0c2a9e-7f3c-4d0b-9a41-2c8f6b1d0e73";
const deliveryId = "9d6f1a52-4f5b-4c0b-8a0c-1d2e3f405162";

/** Whom the gateway tells what happens. */
export function addWebhookCommands(program: Command, run: RunCommand): void {
  const webhooks = program.command("webhooks").description("manage webhooks (needs a key with scopes read and admin)");
  const load = () => import("./webhook_commands.ts");
  addExamples(webhooks, "scanstream webhooks list");
  const list = webhooks
    .command("list")
    .description("list webhooks, newest first")
    .addOption(formats("table", "json", "ndjson"))
    .action((flags: FormatFlag) => run(async (io) => (await load()).webhooksListCommand(flags, io)));
  addExamples(list, "scanstream webhooks list");
  const add = webhooks
    .command("add")
    .description("create a webhook; its secret is shown only once")
    .argument("<url>", "address that receives the messages, https://…")
    .addOption(
      offering(
        new Option("--events <list>", `of ${webhookEvents.join(", ")}, with commas; all of them unless given`),
        "list",
        () => Promise.resolve(webhookEvents),
      ),
    )
    .option("--slack", "send the messages in the format of Slack's incoming webhooks")
    .addOption(formats("text", "json"))
    .action((url: string, flags: WebhookAddFlags) =>
      run(async (io) => (await load()).webhooksAddCommand(url, flags, io)),
    );
  addExamples(add, "scanstream webhooks add https://hooks.example/scanstream --events scan.end,finding.created");
  const test = webhooks
    .command("test")
    .description("send a test message")
    .argument("<id>", "the webhook's id, as `webhooks list` shows it")
    .addOption(formats("text", "json"))
    .action((id: string, flags: FormatFlag) => run(async (io) => (await load()).webhooksTestCommand(id, flags, io)));
  addExamples(test, `scanstream webhooks test ${webhookId}`);
  const rotate = webhooks
    .command("rotate-secret")
    .description("replace the secret; the old secret also signs for 24 hours")
    .argument("<id>", "the webhook's id, as `webhooks list` shows it")
    .addOption(formats("text", "json"))
    .action((id: string, flags: FormatFlag) => run(async (io) => (await load()).webhooksRotateCommand(id, flags, io)));
  addExamples(rotate, `scanstream webhooks rotate-secret ${webhookId}`);
  const remove = webhooks
    .command("remove")
    .description("delete a webhook and its deliveries")
    .argument("<id>", "the webhook's id, as `webhooks list` shows it")
    .action((id: string) => run(async (io) => (await load()).webhooksRemoveCommand(id, io)));
  addExamples(remove, `scanstream webhooks remove ${webhookId}`);
  const deliveries = webhooks
    .command("deliveries")
    .description("list deliveries of the last 30 days, newest first")
    .argument("<id>", "the webhook's id, as `webhooks list` shows it")
    .addOption(new Option("--status <status>", `only ${deliveryStatuses.join(", ")}`).choices(deliveryStatuses))
    .option("--limit <n>", "maximum number of deliveries", toWhole(1, 1_000_000), 50)
    .addOption(formats("table", "json", "ndjson"))
    .action((id: string, flags: DeliveriesFlags) =>
      run(async (io) => (await load()).webhooksDeliveriesCommand(id, flags, io)),
    );
  addExamples(deliveries, `scanstream webhooks deliveries ${webhookId} --status dead`);
  const replay = webhooks
    .command("replay")
    .description("resend a delivery, even a successful one")
    .argument("<id>", "the webhook's id, as `webhooks list` shows it")
    .argument("<delivery-id>", "the delivery's id, as `webhooks deliveries` shows it")
    .addOption(formats("text", "json"))
    .action((id: string, delivery: string, flags: FormatFlag) =>
      run(async (io) => (await load()).webhooksReplayCommand(id, delivery, { ...flags, io })),
    );
  addExamples(replay, `scanstream webhooks replay ${webhookId} ${deliveryId}`);
}
