import { finish, nowSeconds, open, streamToken, tokenSeconds, type Credential, type Opened } from "./streams.ts";
import { complain, pause, pick, type SoakScan, type SoakTenant, type Work } from "./work.ts";

/** S4: a stream closes within 30 s of a revoked key or membership. */
const promisedMs = 30_000;

/** A key that is revoked while it has streams open, one of them by a stream token: they close, and neither opens another. */
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

/** The same with a member who is removed. */
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
  readonly credential: Credential & { readonly authorization: string };
  readonly end: () => Promise<unknown>;
  /** What it is answered afterwards. */
  readonly refusal: number;
}

async function watchEnd(work: Work, { scan, credential, end, refusal }: Ending): Promise<void> {
  const byToken = await streamToken(work, scan, credential.authorization);
  const credentials = byToken === null ? [credential] : [credential, byToken];
  const opened = (await Promise.all(credentials.map((one) => open(work, scan, one)))).filter((one) => one !== null);
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
  for (const one of credentials) await requireRefused(work, { scan, credential: one, refusal });
}

/** A token that runs out while its stream is open: to the second, and never before. */
export async function expiringToken(work: Work, tenant: SoakTenant): Promise<void> {
  for (let turn = 0; work.isOn; turn += 1) {
    const scan = pick(tenant.scans);
    const expiresAtSeconds = nowSeconds() + 3;
    const authorization = `Bearer ${await work.surroundings.sign({ tenantId: tenant.id, sub: "ann", expiresAtSeconds })}`;
    // Every other one by a stream token, whose stream lives under the authority of the caller who asked for it.
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

interface Refused {
  readonly scan: SoakScan;
  readonly credential: Credential;
  readonly refusal: number;
}

async function requireRefused(work: Work, { scan, credential, refusal }: Refused): Promise<void> {
  const opened = await open(work, scan, credential, [refusal]);
  if (opened === null) return;
  complain(work, `a stream was opened by an authority that had ended: expected ${refusal}`);
  await finish(work, opened, ["revoked", "expired"]);
}
