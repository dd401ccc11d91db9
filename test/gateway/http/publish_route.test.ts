import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { createApp } from "../../../gateway/app.ts";
import type { Feature } from "../../../gateway/features/features.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import type { Broker } from "../../../shared/broker.ts";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import { parseMessage } from "../../../shared/event.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

let isBrokerAway = false;
const memory = createMemoryBroker();
const broker: Broker = {
  ...memory,
  publish: (channel, message) =>
    isBrokerAway
      ? Promise.reject(new AppError("unavailable", "The broker cannot be reached", { retryAfterSeconds: 3 }))
      : memory.publish(channel, message),
};
const gateway = await openTestGateway({}, { broker });
const key = `Api-Key ${gateway.acme.apiKey}`;

describe("on the channels of a feature that stores", () => {
  const noteEvent = (n: number, producer = "p") => ({
    type: "note.created",
    data: { n },
    delivery_id: `${producer}.${n}`,
  });

  function startNotes() {
    const handed: number[][] = [];
    const channel = makeChannelName("note", gateway.acme.id, crypto.randomUUID());
    const copies = makeChannelName("copy", gateway.acme.id, crypto.randomUUID());
    const notes: Feature = {
      prefix: "note",
      eventStreams: {},
      async onPublish(tx, events, { resourceId }) {
        await tx.execute(sql`select 1`);
        handed.push(events.map(({ payload }) => Number(payload["n"])));
        if (events.some(({ payload }) => payload["n"] === 404)) throw new NotFound(`No such note ${resourceId}`);
        return events.map((event) => ({ ...event, channel: copies }));
      },
    };
    const app = createApp(gateway.gateway.parts.dependencies, [notes]);
    const publishNotes = async (...events: readonly object[]) => {
      const response = await app.request(`/api/v1/channels/${channel}/events`, {
        method: "POST",
        headers: { authorization: key, "content-type": "application/json" },
        body: JSON.stringify({ events }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    return { handed, channel, copies, publishNotes };
  }

  test("each is stored once by its number, whatever is sent again; a jump is 409 with the number that is expected", async () => {
    const { handed, publishNotes } = startNotes();
    const taken = (stored: number) => ({ status: 202, body: { stored, live: true } });
    expect(await publishNotes(noteEvent(1), noteEvent(2))).toEqual(taken(2));
    expect(await publishNotes(noteEvent(1), noteEvent(2))).toEqual(taken(0));
    expect(await publishNotes(noteEvent(2), noteEvent(3))).toEqual(taken(1));
    expect(await publishNotes(noteEvent(1, "other"))).toEqual(taken(1));
    expect(await publishNotes(noteEvent(5))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("p.4") },
    });
    expect(handed).toEqual([[1, 2], [3], [1]]);
  });

  test("a batch that the feature refuses leaves nothing behind", async () => {
    const { publishNotes } = startNotes();
    const missing = { ...noteEvent(404), delivery_id: "p.2" };
    expect(await publishNotes(noteEvent(1), missing)).toMatchObject({ status: 404 });
    expect(await publishNotes(noteEvent(1))).toEqual({ status: 202, body: { stored: 1, live: true } });
  });

  test.each([
    ["with the gateway's name", noteEvent(1, "gateway")],
    ["with the number 0", noteEvent(0)],
  ])("an event %s is 422", async (_what, event) => {
    expect(await startNotes().publishNotes(event)).toMatchObject({ status: 422 });
  });

  test("numbers that do not follow each other are 422", async () => {
    expect(await startNotes().publishNotes(noteEvent(1), noteEvent(3))).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/events/1/delivery_id" }] },
    });
  });

  test("what the feature returns follows on its channel, numbered by the gateway, also when the first attempt was not sent", async () => {
    const { channel, copies, publishNotes } = startNotes();
    const received: string[] = [];
    const handlers = { onMessage: (message: string) => void received.push(message), onLost() {} };
    const { signal } = new AbortController();
    for (const name of [channel, copies]) await memory.subscribe(name, handlers, signal);
    isBrokerAway = true;
    expect(await publishNotes(noteEvent(1))).toEqual({ status: 202, body: { stored: 1, live: false } });
    isBrokerAway = false;
    expect(await publishNotes(noteEvent(1), noteEvent(2))).toEqual({ status: 202, body: { stored: 1, live: true } });
    const ids = received.flatMap((message) => parseMessage(message)?.map(({ deliveryId }) => deliveryId));
    expect(ids).toEqual(["p.1", "p.2", "gateway.2"]);
  });
});
