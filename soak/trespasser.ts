import { createMemberToken, finish, open } from "./streams.ts";
import { complain, pause, pick, type SoakTenant, type Work } from "./work.ts";

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
