import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSecret, signatureHeaders } from "../../../../gateway/features/webhooks/signature.ts";

const body = JSON.stringify({
  type: "scan.end",
  timestamp: "2026-11-22T09:30:00.000Z",
  data: { name: "Zürich → 東京" },
});
const message = () => ({ id: crypto.randomUUID(), timestamp: Math.floor(Date.now() / 1000), body });

test("the receiver's library of Standard Webhooks verifies what is signed, and refuses any other body, id, time and secret", async () => {
  const secret = createSecret();
  const receiver = new Webhook(secret);
  const sent = message();
  const headers = await signatureHeaders(sent, [secret]);
  expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => receiver.verify(`${body} `, headers)).toThrow(/signature/i);
  expect(() => receiver.verify(body, { ...headers, "webhook-id": "another" })).toThrow(/signature/i);
  expect(() => receiver.verify(body, { ...headers, "webhook-timestamp": String(sent.timestamp - 1) })).toThrow(
    /signature/i,
  );
  expect(() => new Webhook(createSecret()).verify(body, headers)).toThrow(/signature/i);
  const old = await signatureHeaders({ ...sent, timestamp: sent.timestamp - 301 }, [secret]);
  expect(() => receiver.verify(body, old)).toThrow(/too old/i);
});

test("while a secret is being replaced a receiver verifies with either", async () => {
  const secrets = [createSecret(), createSecret()];
  const headers = await signatureHeaders(message(), secrets);
  expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
});

test("a secret is 256 random bits after its prefix", () => {
  const [one, other] = [createSecret(), createSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(one).not.toBe(other);
});
