import { expect, it } from "vitest";
import { selectChecks } from "../../../scanner/catalog/select_checks.ts";
import { defaultScopes } from "../../../scanner/config.ts";
import { connect } from "../../../scanner/idp/connection.ts";
import { runScan } from "../../../scanner/run_scan.ts";
import { configFor } from "../../support/idp_connection.ts";
import { createRandom } from "../../support/random.ts";
import { setUpOrg } from "./followed_org.ts";

const changeCount = 60;

it("the followed state equals a fresh scan after random changes and restarts, and each change is explained", async () => {
  const { org, start } = await setUpOrg({ profile: { name: "typical" } });
  const random = createRandom(7);
  const state = new Map<string, string>();
  let follower = start({ reconcileMs: 3_600_000 });
  await follower.settled();
  take(follower.lines);
  let moved = 0;
  for (let change = 0; change < changeCount; change++) {
    const name = org.changeAtRandom(() => random());
    if (change % 20 === 19) {
      await follower.stop();
      follower = start();
      await follower.settled();
      take(follower.lines);
      continue;
    }
    const { lines, requests } = await follower.after(2000);
    take(lines);
    moved += lines.length;
    expect(
      lines.filter(({ explained_by }) => explained_by.length === 0),
      name,
    ).toEqual([]);
    expect(requests.filter((path) => !path.startsWith("/api/v1/logs")).length, name).toBeLessThanOrEqual(3);
    if (change % 10 === 0) expect([name, await freshState(org)]).toEqual([name, [...state.values()].sort()]);
  }
  expect(await freshState(org)).toEqual([...state.values()].sort());
  expect(moved).toBeGreaterThan(10);
  await follower.stop();

  function take(lines: typeof follower.lines) {
    for (const { fingerprint, check, to } of lines) {
      if (to === null) state.delete(fingerprint);
      else state.set(fingerprint, JSON.stringify([check, fingerprint, to.status, to.reason]));
    }
  }
});

export async function freshState(org: Awaited<ReturnType<typeof setUpOrg>>["org"]) {
  const config = configFor(
    { url: org.url, clientId: org.clientId, privateKey: org.privateKeyPem },
    { scopes: defaultScopes },
  );
  const scan = await runScan(
    {
      orgUrl: org.url,
      clientId: org.clientId,
      checks: selectChecks(),
      approvedIssuers: null,
      signal: new AbortController().signal,
    },
    { connect: (options) => connect(config, options), onResult: () => {}, now: () => new Date() },
  );
  return scan.results
    .flatMap(({ check, findings }) =>
      findings.map(({ fingerprint, status, reason }) => JSON.stringify([check, fingerprint, status, reason])),
    )
    .sort();
}
