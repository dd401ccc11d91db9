import {
  createMemberToken,
  finish,
  nowSeconds,
  open,
  streamToken,
  tokenSeconds,
  untilNewest,
  type Credential,
  type Opened,
} from "./streams.ts";
import { complain, pause, pick, type SoakScan, type SoakTenant, type Work } from "./work.ts";

/** S4: a stream closes within 30 s of a revoked key or membership. */
const promisedMs = 30_000;

/** A key that is revoked while it has streams open: they close, and it opens no more. */
export async function revokedKey(work: Work, tenant: SoakTenant): Promise<void> {
  while (work.isOn) {
    const key = (await work.surroundings.admin("api-key.create", { tenant: tenant.id, name: "soak" })) as {
      readonly id: string;
      readonly api_key: string;
    };
    const credential = { authorization: `Api-Key ${key.api_key}`, query: "" };
    await watchEnd(work, {
      scan: pick(tenant.scans),
      credential,
      end: () => work.surroundings.admin("api-key.revoke", { id: key.id }),
      refusal: 401,
    });
    await pause(1000);
  }
}

/** A member who is removed while it has streams open, one of them by a stream token. */
export async function removedMember(work: Work, tenant: SoakTenant): Promise<void> {
  for (let turn = 0; work.isOn; turn += 1) {
    const member = { tenant: tenant.id, sub: `guest-${turn}` };
    await work.surroundings.admin("user.create", member);
    const token = await work.surroundings.sign({
      tenantId: tenant.id,
      sub: member.sub,
      expiresAtSeconds: nowSeconds() + tokenSeconds,
    });
    await watchEnd(work, {
      scan: pick(tenant.scans),
      credential: { authorization: `Bearer ${token}`, query: "" },
      end: () => work.surroundings.admin("user.remove", member),
      refusal: 403,
    });
    await pause(1000);
  }
}

interface Ending {
  readonly scan: SoakScan;
  readonly credential: Credential;
  readonly end: () => Promise<unknown>;
  /** What it is answered afterwards. */
  readonly refusal: number;
}

async function watchEnd(work: Work, { scan, credential, end, refusal }: Ending): Promise<void> {
  const opened = (await Promise.all([open(work, scan, credential), open(work, scan, credential)])).filter(isOpened);
  await pause(200 + Math.random() * 500);
  const calledAtMs = Date.now();
  await end();
  const endedAtMs = Date.now();
  for (const one of opened) {
    await within(work, one, promisedMs, "its authority had ended");
    const { closeReason, closedAtMs } = one.subscriber;
    if (closeReason === "revoked") {
      if (closedAtMs < calledAtMs) complain(work, "a stream was closed as revoked before anything was");
      work.counts.revoked += 1;
      work.counts.longestRevocationMs = Math.max(work.counts.longestRevocationMs, closedAtMs - endedAtMs);
    }
    await finish(work, one, ["revoked"]);
  }
  await requireRefused(work, { scan, credential, refusal });
}

function isOpened(opened: Opened | null): opened is Opened {
  return opened !== null;
}

/** A token that runs out while its stream is open: to the second, and never before. */
export async function expiringToken(work: Work, tenant: SoakTenant): Promise<void> {
  for (let turn = 0; work.isOn; turn += 1) {
    const scan = pick(tenant.scans);
    const expiresAtSeconds = nowSeconds() + 3;
    const authorization = `Bearer ${await work.surroundings.sign({ tenantId: tenant.id, sub: "ann", expiresAtSeconds })}`;
    // Every other one by a stream token, whose stream lives under the authority of whoever asked for it.
    const credential =
      turn % 2 === 0 ? { authorization, query: "" } : await streamToken(work, scan, authorization, [401]);
    const opened = credential === null ? null : await open(work, scan, credential, [401]);
    if (credential === null || opened === null) {
      await pause(300);
      continue;
    }
    await within(work, opened, promisedMs, "its token had expired");
    const { closeReason, closedAtMs } = opened.subscriber;
    if (closeReason === "expired") {
      work.counts.expired += 1;
      if (closedAtMs < expiresAtSeconds * 1000) complain(work, "a stream was closed as expired before its token was");
    }
    await finish(work, opened, ["expired"]);
    if (Date.now() >= expiresAtSeconds * 1000) await requireRefused(work, { scan, credential, refusal: 401 });
  }
}

async function within(work: Work, { subscriber }: Opened, ms: number, since: string): Promise<void> {
  const late = setTimeout(() => {
    complain(work, `a stream was still open ${ms / 1000} s after ${since}`);
    void subscriber.leave();
  }, ms);
  await subscriber.closed;
  clearTimeout(late);
}

async function requireRefused(work: Work, { scan, credential, refusal }: Omit<Ending, "end">): Promise<void> {
  const opened = await open(work, scan, credential, [refusal]);
  if (opened === null) return;
  complain(work, `a stream was opened by an authority that had ended: expected ${refusal}`);
  await finish(work, opened, ["revoked", "expired"]);
}

/** A member of one tenant who asks for the streams of another. */
export async function trespasser(work: Work, [own, other]: readonly [SoakTenant, SoakTenant]): Promise<void> {
  const token = createMemberToken(work, own.id);
  for (let turn = 0; work.isOn; turn += 1) {
    const authorization = turn % 2 === 0 ? `Bearer ${await token()}` : `Api-Key ${own.apiKey}`;
    const opened = await open(work, pick(other.scans), { authorization, query: "" }, [404]);
    work.counts.trespasses += 1;
    if (opened !== null) {
      complain(work, "a stream was opened by another tenant");
      await finish(work, opened);
    }
    await pause(200);
  }
}

/** The issuer takes a new key into service: its tokens count as soon as the gateway can have and has asked for it. */
export async function rotatedKey(work: Work, tenant: SoakTenant): Promise<void> {
  while (work.isOn) {
    await work.surroundings.rotate();
    const token = await work.surroundings.sign({
      tenantId: tenant.id,
      sub: "ann",
      expiresAtSeconds: nowSeconds() + tokenSeconds,
      key: "newest",
    });
    const credential = { authorization: `Bearer ${token}`, query: "" };
    for (;;) {
      const opened = await open(work, pick(tenant.scans), credential, [401]);
      if (opened !== null) {
        await untilNewest(work, opened);
        await finish(work, opened);
        work.counts.rotations += 1;
        break;
      }
      if (!work.isOn) break;
      await pause(500);
    }
    await pause(1000);
  }
}
