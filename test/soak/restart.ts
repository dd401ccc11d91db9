import { startLife } from "./start_life.ts";
import { finish, memberToken, nowSeconds, open, untilNewest } from "./streams.ts";
import { complain, pause, pick, type Work } from "./work.ts";

/**
 * SIGTERM in the middle of everything: the gateway drains and leaves with 0. The next one starts where no key of the
 * issuer can be had: users wait for it, API keys do not.
 */
export async function restart(work: Work): Promise<void> {
  const { life, surroundings } = work;
  const open = [...life.open.keys()];
  life.stoppingAtMs = Date.now();
  const code = await life.gateway.stop();
  if (code !== 0) complain(work, `the gateway left with ${code} after SIGTERM`);
  // What each of them was told is checked by whoever has it open.
  await Promise.all(open.map(({ closed }) => closed));
  surroundings.issuerNetwork.refuse();
  work.life = await startLife(work);
  await requireKeysOnly(work);
  surroundings.issuerNetwork.restore();
}

async function requireKeysOnly(work: Work): Promise<void> {
  const tenant = pick(work.tenants);
  const scan = pick(tenant.scans);
  const token = await memberToken(work, tenant.id, nowSeconds() + 3600);
  const member = await open(work, scan, { authorization: `Bearer ${token}`, query: "" });
  if (member !== null) complain(work, "a member was let in while no key of the issuer could be had");
  for (;;) {
    const opened = await open(work, scan, { authorization: `Api-Key ${tenant.apiKey}`, query: "" });
    if (opened !== null) {
      await untilNewest(work, opened);
      await finish(work, opened);
      return;
    }
    await pause(100);
  }
}
