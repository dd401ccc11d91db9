import { createMemberToken, finish, open, streamToken, untilNewest, type Credential, type Opened } from "./streams.ts";
import type { Subscriber } from "./subscriber.ts";
import { pause, pick, type SoakScan, type SoakTenant, type Work } from "./work.ts";

/** Opens a stream, reads for a while, and for what was published by then, leaves or is closed; again and again. */
export async function ordinaryClient(work: Work, tenant: SoakTenant, index: number): Promise<void> {
  const token = createMemberToken(work, tenant.id);
  while (work.isOn) {
    const scan = pick(tenant.scans);
    const credential = await credentialOf(work, scan, { index, token: await token() });
    const opened = credential === null ? null : await open(work, scan, credential);
    if (opened === null) {
      await pause(300);
      continue;
    }
    const readOn = index % 5 === 4 ? readInSteps(opened.subscriber) : null;
    await Promise.race([opened.subscriber.closed, pause(50 + Math.random() * 3000)]);
    readOn?.();
    await untilNewest(work, opened);
    await stayForDrain(opened);
    await finish(work, opened);
  }
}

/** One of more clients than the tenant may have streams; who is refused asks again much sooner than it was told. */
export async function crowdedClient(work: Work): Promise<void> {
  const authorization = `Api-Key ${work.crowded.apiKey}`;
  while (work.isOn) {
    const opened = await open(work, pick(work.crowded.scans), { authorization, query: "" }, [429]);
    if (opened === null) {
      await pause(200);
      continue;
    }
    await Promise.race([opened.subscriber.closed, pause(500 + Math.random() * 1500)]);
    await untilNewest(work, opened);
    await stayForDrain(opened);
    await finish(work, opened);
  }
}

/** Who is there when the gateway is told to stop wants to hear it from the gateway. */
async function stayForDrain({ subscriber, life }: Opened): Promise<void> {
  if (Date.now() >= life.stoppingAtMs) await subscriber.closed;
}

const deafMs = 5000;

/** Reads nothing of a torrent until the gateway has to give it up; what it finds then is whole up to where it was cut. */
export async function deafClient(work: Work): Promise<void> {
  const authorization = `Api-Key ${work.torrent.tenant.apiKey}`;
  while (work.isOn) {
    const opened = await open(work, work.torrent, { authorization, query: "" });
    if (opened === null) {
      await pause(300);
      continue;
    }
    const { subscriber } = opened;
    subscriber.pause();
    const untilMs = Date.now() + deafMs;
    while (work.isOn && Date.now() < untilMs) await pause(100);
    subscriber.resume();
    // Closed as `slow` it has its last bytes, or a reset in their place; anybody else hears everything.
    await untilNewest(work, opened);
    if (subscriber.closeReason === "slow" || (subscriber.isClosed && subscriber.closeReason === null)) {
      work.counts.slow += 1;
    }
    await finish(work, opened, ["slow", null, "lost"]);
  }
}

/** Four ways to come in; null when there is no stream token to be had. */
async function credentialOf(
  work: Work,
  scan: SoakScan,
  { index, token }: { readonly index: number; readonly token: string },
): Promise<Credential | null> {
  if (index % 4 === 0) return { authorization: `Api-Key ${scan.tenant.apiKey}`, query: "" };
  if (index % 4 === 1) return { authorization: `Bearer ${token}`, query: "" };
  if (index % 4 === 2) return { authorization: null, query: `?access_token=${token}` };
  return streamToken(work, scan, `Bearer ${token}`);
}

/** A reader that takes what came four times a second only. Returns how to let it read on. */
function readInSteps(subscriber: Subscriber): () => void {
  let isReading = true;
  const step = () => {
    isReading = !isReading;
    if (isReading) subscriber.resume();
    else subscriber.pause();
  };
  const timer = setInterval(step, 125);
  return () => {
    clearInterval(timer);
    subscriber.resume();
  };
}
