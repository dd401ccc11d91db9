import { openSubscriber, type Subscriber } from "./subscriber.ts";
import { ask, complain, streamPathOf, type Life, type SoakScan, type Work } from "./work.ts";

/** How a client shows who it is: in a header, or by a token in the query. */
export interface Credential {
  readonly authorization: string | null;
  readonly query: string;
}

/** A stream that was opened, and in which life of the gateway. */
export interface Opened {
  readonly subscriber: Subscriber;
  readonly life: Life;
  readonly scan: SoakScan;
}

/**
 * Null when it was refused. While something is broken that may be a 503, while the gateway stops no answer at all;
 * whatever else a client may be told is in `refusals`.
 */
export async function open(
  work: Work,
  scan: SoakScan,
  { authorization, query }: Credential,
  refusals: readonly number[] = [],
): Promise<Opened | null> {
  const { life, counts } = work;
  const { isUp } = life;
  const url = `${work.url}${streamPathOf(scan)}${query}`;
  const subscriber = await openSubscriber(url, authorization, scan.channel);
  const { status, retryAfter } = subscriber;
  if (status === 200) {
    counts.streams += 1;
    life.open.set(subscriber, scan.tenant.id);
    void subscriber.closed.then(() => life.open.delete(subscriber));
    requireWithinBound(work, life, scan.tenant.id);
    return { subscriber, life, scan };
  }
  counts.refused += 1;
  if (status === 429) counts.overLimit += 1;
  const isExpected =
    status === 0 ? !isUp || Date.now() >= life.stoppingAtMs : status === 503 || refusals.includes(status);
  if (!isExpected) complain(work, `a stream was answered with ${status}`);
  if ((status === 503 || status === 429) && retryAfter === null) complain(work, `${status} without Retry-After`);
  return null;
}

/** Counted by the clients, who hear of a stream after the gateway took its place, and leave before it is free again. */
function requireWithinBound(work: Work, life: Life, tenantId: string): void {
  const count = [...life.open.values()].filter((id) => id === tenantId).length;
  if (count > work.maxStreamsPerTenant) {
    complain(work, `${count} streams of a tenant that may have ${work.maxStreamsPerTenant}`);
  }
}

/** Leaves if it was not closed; counts what the stream brought, and complains of what was wrong with it. */
export async function finish(
  work: Work,
  { subscriber, life, scan }: Opened,
  reasons: readonly (string | null)[] = [],
): Promise<void> {
  const { counts } = work;
  const wasClosed = subscriber.isClosed;
  life.open.delete(subscriber);
  await subscriber.leave();
  const { closeReason, closedAtMs, problem } = subscriber;
  counts.events += subscriber.events;
  if (problem !== null) complain(work, `${scan.channel.name}: a client ${problem}`);
  if (closeReason === "lost") counts.lost += 1;
  if (closeReason === "drain") counts.drained += 1;
  const expected = [...reasons, closedAtMs >= life.stoppingAtMs ? "drain" : "lost"];
  // Who leaves may meet half of what the gateway says at that moment.
  if ((wasClosed || closeReason !== null) && !expected.includes(closeReason)) {
    complain(work, `a stream was closed ${closeReason === null ? "without a reason" : `as ${closeReason}`}`);
  }
}

/** Everything that was published while a stream is open has to come; nothing for so long is a silent gap. */
const silenceMs = 60_000;

export async function untilNewest(work: Work, { subscriber, scan }: Opened): Promise<void> {
  const newest = scan.channel.next - 1;
  const silence = setTimeout(() => {
    complain(work, `${scan.channel.name}: event ${newest} did not come, and the stream stayed open`);
    void subscriber.leave();
  }, silenceMs);
  await subscriber.until(newest);
  clearTimeout(silence);
}

/** A member's JWT, as clients have one: used for long, and renewed in time. */
export function createMemberToken({ surroundings }: Work, tenantId: string): () => Promise<string> {
  let token: Promise<string> | null = null;
  let renewAtSeconds = 0;
  return () => {
    if (token === null || nowSeconds() >= renewAtSeconds) {
      renewAtSeconds = nowSeconds() + tokenSeconds / 2;
      token = surroundings.sign({ tenantId, sub: "ann", expiresAtSeconds: nowSeconds() + tokenSeconds });
    }
    return token;
  };
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export const tokenSeconds = 1200;

/** Null when there is none to be had now. */
export async function streamToken(
  work: Work,
  scan: SoakScan,
  authorization: string,
  refusals: readonly number[] = [],
): Promise<Credential | null> {
  const { status, body } = await ask(work, "/api/v1/stream-tokens", authorization, { scan_id: scan.id });
  if (status === 200) {
    const { access_token: token } = body as { readonly access_token: string };
    return { authorization: null, query: `?access_token=${token}` };
  }
  if (![0, 503, ...refusals].includes(status)) complain(work, `a stream token was answered with ${status}`);
  return null;
}
