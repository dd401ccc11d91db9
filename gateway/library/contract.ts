import assert from "node:assert/strict";
import { parseChannelName } from "../../shared/channel_name.ts";
import { call, openStream, refused } from "./contract_client.ts";

/**
 * Exports of `scanstream/gateway/contract`: the promises of every event stream, as tests that anybody runs against a gateway of
 * their own. They come through HTTP alone.
 */

export interface ContractGateway {
  /** Without a slash at its end. */
  readonly url: string;
  /** Makes a resource of the key's tenant, whose stream stays open until it is closed from outside. */
  readonly createResource: (apiKey: string) => Promise<ContractResource>;
  /** An event that may be published on its channel. Default: `<prefix>.progress` with `data`. */
  readonly event?: (data: ContractEvent["data"], resource: ContractResource) => ContractEvent;
}

export interface ContractResource {
  readonly channel: string;
  /** The path of its event stream. */
  readonly path: string;
}

export interface ContractEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, string | number>>;
}

export interface ContractOptions {
  readonly gateway: ContractGateway;
  /** API keys of two tenants, with the scopes to read and to publish. */
  readonly keys: { readonly own: string; readonly other: string };
  /** `test` of vitest or of `node:test`. */
  readonly test: ContractTest;
  /** Revokes a key. Without it S4 is skipped. */
  readonly revoke?: (apiKey: string) => Promise<void>;
  /** Stops the gateway as its supervisor does, with SIGTERM. Without it S7 is skipped. */
  readonly stop?: () => Promise<void>;
}

export interface ContractTest {
  (name: string, run: () => Promise<void>): unknown;
  readonly skip: (name: string, run: () => Promise<void>) => unknown;
}

/** Defines a test for each promise. They run one after the other: S4 revokes the other key, and S7 stops the gateway. */
export function runContract({ test, ...options }: ContractOptions): void {
  for (const [name, run, needs] of promises) {
    if (needs === undefined || options[needs] !== undefined) test(name, () => run(options));
    else test.skip(`${name} (skipped: no ${needs} was given)`, () => run(options));
  }
}

type Context = Omit<ContractOptions, "test">;
type ContractPromise = readonly [name: string, run: (context: Context) => Promise<void>, needs?: "revoke" | "stop"];

/** The promises, in the order in which they are kept; docs/reliability.md explains each. */
export const promises: readonly ContractPromise[] = [
  ["S1: what is published once a stream is open reaches it, in order, each event whole", inOrder],
  ["S2: a reader that falls behind misses nothing before its stream is closed", gaplessOrClosed],
  ["S3: nobody else reads a tenant's stream or publishes on its channels", twoGates],
  ["S5: an idle stream has a heartbeat", heartbeat],
  ["S6: an event, a batch and a body over their limits are refused", bounded],
  ["S8: no line break enters the stream through a type or a payload", noInjection],
  ["S9: a refusal repeats no credential", noSecrets],
  ["S4: a stream closes within 30 s after its key is revoked, and others stay", revoked, "revoke"],
  ["S7: a stop tells each stream when to come back, and closes it", drained, "stop"],
];

async function inOrder(context: Context): Promise<void> {
  const { resource, stream } = await open(context);
  const text = "ä\u2028 data: x \u{1f600}";
  for (let n = 0; n < 20; n += 1) await publish(context, resource, { n, text });
  await stream.until(`"n":19,`);
  stream.leave();
  // From an `event:` line to its blank line; comments may stand before it.
  const frames = Array.from(stream.text().matchAll(/^(event:[^]*?)\n\n/gm), ([, frame]) => frame);
  const expected = Array.from({ length: 20 }, (_, n) => {
    const { type, data } = eventOf(context, resource, { n, text });
    return `event: ${type}\ndata: ${JSON.stringify(data)}`;
  });
  assert.deepEqual(frames, expected);
}

async function gaplessOrClosed(context: Context): Promise<void> {
  const { resource, stream } = await open(context);
  const filler = "x".repeat(60_000);
  const count = 200;
  for (let n = 0; n < count; n += 10) {
    await publish(context, resource, ...Array.from({ length: 10 }, (_, index) => ({ n: n + index, filler })));
  }
  await stream.until(new RegExp(`"n":${count - 1},|: close `)).catch((error: unknown) => {
    // Cut off where its last bytes could not be sent: closed as well. An open stream that stays silent has lost events.
    if (error instanceof assert.AssertionError && error.message.startsWith("Nothing came")) throw error;
  });
  const numbers = Array.from(stream.text().matchAll(/^data: \{.*?"n":(\d+),/gm), ([, n]) => Number(n));
  stream.leave();
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, n) => n),
  );
  assert.ok(numbers.length > 0, "it got nothing");
}

async function twoGates(context: Context): Promise<void> {
  const { gateway, keys } = context;
  const { channel, path } = await gateway.createResource(keys.own);
  await refused(await call(gateway, path), 401);
  const stranger = await call(gateway, path, { as: `Api-Key ${keys.other}` });
  await refused(stranger, stranger.status === 403 ? 403 : 404);
  const event = eventOf(context, { channel, path }, { n: 1 });
  for (const wrong of [channel, channel.split(":").slice(0, 2).join(":"), `${channel}:more`]) {
    const events = `/api/v1/channels/${encodeURIComponent(wrong)}/events`;
    await refused(await call(gateway, events, { as: `Api-Key ${keys.other}`, json: event }), 403);
  }
}

async function heartbeat(context: Context): Promise<void> {
  const { stream } = await open(context);
  await stream.until(": heartbeat\n");
  stream.leave();
}

async function bounded(context: Context): Promise<void> {
  const { gateway, keys } = context;
  const resource = await gateway.createResource(keys.own);
  const events = `/api/v1/channels/${resource.channel}/events`;
  const as = `Api-Key ${keys.own}`;
  const large = eventOf(context, resource, { n: 1, filler: "x".repeat(70_000) });
  const oversized = await call(gateway, events, { as, json: large });
  await refused(oversized, oversized.status === 413 ? 413 : 422);
  const many = Array.from({ length: 501 }, (_, n) => eventOf(context, resource, { n }));
  await refused(await call(gateway, events, { as, json: { events: many } }), 422);
  await refused(await call(gateway, events, { as, json: { filler: "x".repeat(2_000_000) } }), 413);
}

async function noInjection(context: Context): Promise<void> {
  const { resource, stream } = await open(context);
  const { type } = eventOf(context, resource, { n: 0 });
  for (const end of ["\r", "\n", "\0"]) {
    const json = { type: `${type}${end}data: forged`, data: { n: 1 } };
    const as = `Api-Key ${context.keys.own}`;
    await refused(await call(context.gateway, `/api/v1/channels/${resource.channel}/events`, { as, json }), 422);
  }
  await publish(context, resource, { n: 2, text: "a\r\n\nevent: forged\n\u0000" });
  await stream.until(/"n":2,.*\n\n/);
  stream.leave();
  assert.doesNotMatch(stream.text(), /^event: forged|\r|\0/m);
}

async function noSecrets({ gateway, keys }: Context): Promise<void> {
  const { path } = await gateway.createResource(keys.own);
  const secret = "eyJzZWNyZXQ.eyJzZWNyZXQ.c2VjcmV0";
  await refused(await call(gateway, path, { as: `Bearer ${secret}` }), 401, [secret]);
  await refused(await call(gateway, `${path}?access_token=${secret}`), 401, [secret]);
  await refused(await call(gateway, path, { as: `Bearer ${keys.own}` }), 401, [keys.own]);
}

async function revoked({ gateway, keys, revoke }: Context): Promise<void> {
  const as = `Api-Key ${keys.other}`;
  const { path } = await gateway.createResource(keys.other);
  const others = await gateway.createResource(keys.own);
  const stream = await openStream(gateway, path, as);
  const bystander = await openStream(gateway, others.path, `Api-Key ${keys.own}`);
  await revoke?.(keys.other);
  assert.match(await stream.untilEnd(), /: close revoked\n $/);
  await refused(await call(gateway, path, { as }), 401);
  await bystander.until(": open");
  assert.doesNotMatch(bystander.text(), /: close/);
  bystander.leave();
}

async function drained(context: Context): Promise<void> {
  const { stream } = await open(context);
  await stream.until(": open");
  const stopped = context.stop?.();
  assert.match(await stream.untilEnd(), /retry: \d{4}\n: close drain\n $/);
  await stopped;
  await assert.rejects(call(context.gateway, "/healthz"));
}

async function open(context: Context) {
  const { gateway, keys } = context;
  const resource = await gateway.createResource(keys.own);
  return { resource, stream: await openStream(gateway, resource.path, `Api-Key ${keys.own}`) };
}

/** Numbers the events, because a feature may store them, and gives each batch its own producer. */
async function publish(
  context: Context,
  resource: ContractResource,
  ...all: readonly ContractEvent["data"][]
): Promise<void> {
  const producer = crypto.randomUUID();
  const events = all.map((data, index) => ({
    ...eventOf(context, resource, data),
    delivery_id: `${producer}.${index + 1}`,
  }));
  const json = { events };
  const as = `Api-Key ${context.keys.own}`;
  const response = await call(context.gateway, `/api/v1/channels/${resource.channel}/events`, { as, json });
  assert.equal(response.status, 202, await response.text());
}

function eventOf({ gateway }: Context, resource: ContractResource, data: ContractEvent["data"]): ContractEvent {
  if (gateway.event !== undefined) return gateway.event(data, resource);
  const prefix = parseChannelName(resource.channel)?.prefix.replaceAll("-", "_") ?? "";
  return { type: `${prefix}.progress`, data };
}
