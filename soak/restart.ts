import { startLife } from "./start_life.ts";
import { createMemberToken, finish, open, untilNewest } from "./streams.ts";
import { complain, pause, pick, type Work } from "./work.ts";

/**
 * SIGTERM in the middle of everything: the gateway drains and leaves with 0. The next one starts where no key of the
 * issuer can be had: users wait for it, API keys do not.
 */
export async function restart(work: Work): Promise<void> {
  const { life, surroundings } = work;
  await untilManyAreOpen(work);
  const open = [...life.open.keys()];
  await stopGateway(work);
  // What each of them was told is checked by whoever has it open.
  await Promise.all(open.map(({ closed }) => closed));
  surroundings.issuerNetwork.refuse();
  work.life = startLife(work, Number(new URL(work.url).port));
  await work.life.gateway;
  await requireKeysOnly(work);
  surroundings.issuerNetwork.restore();
}

/** After the last fault a slow machine may take a while until there is something to be drained. */
const graceMs = 30_000;

async function untilManyAreOpen(work: Work): Promise<void> {
  const untilMs = Date.now() + graceMs;
  while (work.life.open.size < work.maxStreamsPerTenant) {
    await pause(50);
    if (Date.now() < untilMs) continue;
    complain(work, `${work.life.open.size} streams open, ${graceMs / 1000} s after the last fault`);
    return;
  }
}

export async function stopGateway(work: Work): Promise<void> {
  const { life } = work;
  const gateway = await life.gateway;
  life.stoppingAtMs = Date.now();
  const code = await gateway.stop();
  if (code !== 0) complain(work, `the gateway left with ${code} after SIGTERM`);
  const { secrets, errors } = gateway.log;
  for (const line of secrets) complain(work, `the log holds a secret: ${line}`);
  for (const line of errors) complain(work, `the log holds an error: ${line}`);
}

async function requireKeysOnly(work: Work): Promise<void> {
  const tenant = pick(work.tenants);
  const scan = pick(tenant.scans);
  const token = await createMemberToken(work, tenant.id)();
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
