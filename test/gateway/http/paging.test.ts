import { expect, test } from "vitest";
import { createScan, openTestGateway } from "../../support/test_gateway.ts";
import { findingEvents } from "../../support/published.ts";

const gateway = await openTestGateway();

/** As long as a fingerprint may be, in what takes most room in JSON, in UTF-8, and in both. */
test.each([
  ["control characters", "\u0001".repeat(199)],
  ["characters of four bytes", "\u{1f600}".repeat(99)],
])("a list continues after a fingerprint of the greatest length: %s", async (_what, longest) => {
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const scan = await createScan(gateway, gateway.acme);
  const path = `/api/v1/scans/${scan.id}/findings`;
  const fingerprints = ["1", "2", "3"].map((last) => longest + last);
  const findings = fingerprints.map((fingerprint) => ({ fingerprint, check: "c", status: "FAIL" }));
  const json = findingEvents(scan.id, findings);
  expect((await gateway.request(`/api/v1/channels/${scan.channel}/events`, { as, json })).status).toBe(202);

  const listed: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query = new URLSearchParams({ limit: "1", ...(cursor === "" ? {} : { cursor }) });
    const answer = await gateway.request(`${path}?${query}`, { as });
    expect(answer.status).toBe(200);
    const page = (await answer.json()) as { items: { fingerprint: string }[]; next_cursor: string | null };
    listed.push(...page.items.map(({ fingerprint }) => fingerprint));
    cursor = page.next_cursor;
  }
  expect(listed.toSorted()).toEqual(fingerprints);
});
