import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../support/any_text.ts";
import { toBody } from "../../../../gateway/features/webhooks/payload.ts";
import { toSlackMessage } from "../../../../gateway/features/webhooks/slack.ts";

const finding = {
  fingerprint: "f1",
  check: "mfa-for-admins",
  severity: "high",
  resource_type: "policy",
  resource_id: "00p1",
  resource_name: "Okta Admin Console",
  expected: "Two factors",
  actual: "A password alone",
};

test("a message says what happened in lines that people read", () => {
  const data = { org_url: "https://acme.okta.com", count: 2, findings: [finding] };
  const { text, blocks } = toSlackMessage("finding.created", data);
  expect(text).toBe("New failing findings of https://acme.okta.com: 2");
  expect(blocks.map((block) => block.text.text)).toEqual([
    "*New failing findings of https://acme.okta.com: 2*",
    "policy Okta Admin Console · mfa-for-admins · high\nA password alone",
    "And 1 more.",
  ]);
});

test("a change names who made it, and what appeared or vanished", () => {
  const change = { ...finding, from: null, to: "FAIL", actor_name: "Ada Admin" };
  const { blocks } = toSlackMessage("finding.updated", { org_url: null, count: 1, changes: [change] });
  expect(blocks[1]?.text.text).toBe("policy Okta Admin Console · mfa-for-admins: nothing → FAIL\nby Ada Admin");
});

test("a name makes no link, no mention and no line of its own", () => {
  const name = "<https://evil.example|Sign in> <!channel> & *x*\n<@U1>\u202e";
  const message = toSlackMessage("finding.created", { count: 1, findings: [{ ...finding, resource_name: name }] });
  const shown = message.blocks[1]?.text.text ?? "";
  expect(shown).toContain("&lt;https://evil.example|Sign in&gt; &lt;!channel&gt; &amp; *x* &lt;@U1&gt;");
  expect(shown.split("\n")).toHaveLength(2);
  expect(JSON.stringify(message)).not.toMatch(/[<>\u202e]/);
  // Slack makes links of bare addresses otherwise.
  for (const { text } of message.blocks) expect(text.verbatim).toBe(true);
  expect(message.unfurl_links).toBe(false);
});

test("whatever the names are, a message is within Slack's bounds", () => {
  const value = fc.oneof(anyText({ maxLength: 600 }), fc.constant("&".repeat(3000)), fc.constant(null), fc.nat());
  const item = fc.record({ resource_type: value, resource_name: value, check: value, severity: value, actual: value });
  const data = fc.record({ org_url: value, count: fc.nat(500), findings: fc.array(item, { maxLength: 60 }) });
  fc.assert(
    fc.property(data, (given) => {
      const { text, blocks } = toSlackMessage("finding.created", given);
      expect(text.length).toBeLessThanOrEqual(3000);
      expect(blocks.length).toBeLessThanOrEqual(50);
      for (const block of blocks) {
        expect(block.text.text.length).toBeLessThanOrEqual(3000);
        expect(block.text.text.length).toBeGreaterThan(0);
        expect(block.text.text.isWellFormed()).toBe(true);
      }
    }),
  );
});

test("a body is the event's JSON, or Slack's where the webhook is for Slack", () => {
  const event = { type: "scan.end", createdAt: "2026-11-22T09:30:00.000Z", data: { status: "completed" } } as const;
  expect(JSON.parse(toBody({ ...event, format: "json" }))).toEqual({
    type: "scan.end",
    timestamp: "2026-11-22T09:30:00.000Z",
    data: { status: "completed" },
  });
  expect(JSON.parse(toBody({ ...event, format: "slack" }))).toHaveProperty("blocks");
});
