import { finish, nowSeconds, open, tokenSeconds, untilNewest } from "./streams.ts";
import { pause, pick, type SoakTenant, type Work } from "./work.ts";

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
