import * as v from "valibot";
import packageJson from "../../package.json" with { type: "json" };
import { toInlineSchema } from "./describe_api.ts";
import type { Described } from "./described.ts";
import type { ChannelDescription } from "./operation.ts";

export type AsyncApi = ReturnType<typeof describeEvents>;

/** The events of all channels. Throws for one that two channels describe. https://www.asyncapi.com/docs/reference/specification/v3.0.0 */
export function describeEvents({ channels }: Pick<Described, "channels">) {
  const messages = channels.flatMap(toMessages);
  for (const [index, [name]] of messages.entries()) {
    if (messages.findIndex(([other]) => other === name) < index)
      throw new TypeError(`Cannot describe the events: ${name} is described twice`);
  }
  return {
    asyncapi: "3.0.0",
    info: {
      title: "scanstream events",
      version: packageJson.version,
      description:
        "Server-sent events. `event:` carries the type, `data:` one line of flat JSON. There is no replay: a client reads " +
        "the state again on every open, or asks for it with `snapshot=1`. Comments are heartbeats, and `: close <reason>` before the gateway closes.",
      license: { name: "Apache 2.0" },
    },
    channels: Object.fromEntries(channels.map((channel) => [channel.prefix, toChannel(channel)])),
    operations: Object.fromEntries(channels.flatMap(toOperations)),
    components: { messages: Object.fromEntries(messages) },
  };
}

function toChannel({ prefix, resource, title, description, schemas }: ChannelDescription) {
  return {
    address: `${prefix}:{tenant_id}:{${resource}}`,
    title,
    description,
    parameters: { tenant_id: { description: "The tenant of the resource" }, [resource]: { description: "Its id" } },
    messages: Object.fromEntries(
      Object.keys(schemas).map((type) => [
        toMessageName(type),
        { $ref: `#/components/messages/${toMessageName(type)}` },
      ]),
    ),
  };
}

function toOperations({ prefix }: ChannelDescription): readonly (readonly [name: string, operation: object])[] {
  const channel = { $ref: `#/channels/${prefix}` };
  const name = `${prefix[0]?.toUpperCase()}${prefix.slice(1)}`;
  return [
    [`follow${name}`, { action: "send", channel, summary: "The gateway sends to each follower" }],
    [`publish${name}`, { action: "receive", channel, summary: "Producers publish" }],
  ];
}

function toMessages({ schemas, summaries }: ChannelDescription) {
  return Object.entries(summaries).map(([type, summary]) => {
    const payload = toInlineSchema(schemas[type] ?? v.never());
    return [toMessageName(type), { name: type, summary, contentType: "application/json", payload }] as const;
  });
}

/** `scan.start` is `scanStart`. */
function toMessageName(type: string): string {
  return type.replaceAll(/[._]([a-z])/g, (_separator, letter: string) => letter.toUpperCase());
}
