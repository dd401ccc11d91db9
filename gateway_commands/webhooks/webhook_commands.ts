import type { CommandIo } from "../../command_line/command_io.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { webhookEvents } from "../../shared/webhook_names.ts";
import type { Resource } from "../gateway_api.ts";
import { changeCommand, field, listCommand, type FormatFlag } from "../team/resource_output.ts";

export interface WebhookAddFlags extends FormatFlag {
  /** Separated by commas. */
  readonly events?: string;
  readonly slack?: true;
}

export interface DeliveriesFlags extends FormatFlag {
  readonly status?: string;
  readonly limit: number;
}

const path = "/api/v1/webhooks";
const known: readonly string[] = webhookEvents;

/** `webhooks list` */
export function webhooksListCommand({ format }: FormatFlag, io: CommandIo): Promise<number> {
  const columns = {
    WEBHOOK: field("id"),
    STATE: ({ enabled, disabled_reason: reason }: Resource) =>
      enabled === true ? "enabled" : typeof reason === "string" ? `disabled: ${reason}` : "disabled",
    FORMAT: field("format"),
    EVENTS: ({ events }: Resource) => (Array.isArray(events) ? events.map(String).join(",") : ""),
    CREATED: field("created_at"),
    URL: field("url"),
  };
  return listCommand({ what: "webhooks", path, format, columns }, io);
}

/** `webhooks add URL`: the secret is in the answer, this once. */
export function webhooksAddCommand(url: string, flags: WebhookAddFlags, io: CommandIo): Promise<number> {
  const wanted = flags.events?.split(",").map((event) => event.trim()) ?? known;
  const problems = [
    ...(URL.canParse(url) ? [] : [`URL ${JSON.stringify(url)}: expected one like https://hooks.example/scanstream`]),
    ...(wanted.every((event) => known.includes(event))
      ? []
      : [`--events ${JSON.stringify(flags.events)}: expected ${known.join(", ")}, or several with commas`]),
  ];
  const body = { url, events: [...new Set(wanted)], format: flags.slack === true ? "slack" : "json" };
  return changeCommand({ what: "create the webhook", method: "POST", path, body, problems, format: flags.format }, io);
}

/** `webhooks test ID` */
export function webhooksTestCommand(id: string, { format }: FormatFlag, io: CommandIo): Promise<number> {
  const problems = idProblems(id);
  return changeCommand({ what: "test the webhook", method: "POST", path: `${path}/${id}/test`, problems, format }, io);
}

/** `webhooks rotate-secret ID`: the new secret is in the answer, this once. */
export function webhooksRotateCommand(id: string, { format }: FormatFlag, io: CommandIo): Promise<number> {
  const rotate = { what: "replace the secret", method: "POST", path: `${path}/${id}/rotate-secret` } as const;
  return changeCommand({ ...rotate, problems: idProblems(id), format }, io);
}

/** `webhooks remove ID` */
export function webhooksRemoveCommand(id: string, io: CommandIo): Promise<number> {
  const done = `Removed ${id}: it receives no more messages`;
  const remove = { what: "remove the webhook", method: "DELETE", path: `${path}/${id}`, done } as const;
  return changeCommand({ ...remove, problems: idProblems(id) }, io);
}

/** `webhooks deliveries ID` */
export function webhooksDeliveriesCommand(
  id: string,
  { status, limit, format }: DeliveriesFlags,
  io: CommandIo,
): Promise<number> {
  const columns = {
    DELIVERY: field("id"),
    TYPE: field("type"),
    STATUS: field("status"),
    ATTEMPTS: field("attempts"),
    CREATED: field("created_at"),
    "NEXT ATTEMPT": field("next_attempt_at"),
    "LAST ERROR": field("last_error"),
  };
  const filter = status === undefined ? "" : `?status=${status}`;
  const list = { what: "deliveries", path: `${path}/${id}/deliveries${filter}`, format, columns, limit };
  return listCommand({ ...list, problems: idProblems(id) }, io);
}

/** `webhooks replay ID DELIVERY_ID` */
export function webhooksReplayCommand(
  id: string,
  deliveryId: string,
  { format, io }: FormatFlag & { readonly io: CommandIo },
): Promise<number> {
  const isDelivery = isUuid(deliveryId);
  const problems = [
    ...idProblems(id),
    ...(isDelivery
      ? []
      : [
          `DELIVERY-ID ${JSON.stringify(deliveryId)}: expected the UUID of a delivery, as \`webhooks deliveries\` shows it`,
        ]),
  ];
  const replay = { what: "replay the delivery", path: `${path}/${id}/deliveries/${deliveryId}/replay` };
  return changeCommand({ ...replay, method: "POST", problems, format }, io);
}

function idProblems(id: string): readonly string[] {
  return isUuid(id) ? [] : [`ID ${JSON.stringify(id)}: expected the UUID of a webhook, as \`webhooks list\` shows it`];
}
