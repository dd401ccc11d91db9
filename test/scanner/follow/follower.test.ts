import { describe, expect, it } from "vitest";
import { setUpOrg } from "./followed_org.ts";

describe("a follower", () => {
  it("writes the first state once, and nothing while nothing changes", async () => {
    const { start } = await setUpOrg();
    const follower = start();
    await follower.settled();
    expect(follower.said).toEqual([]);
    expect(new Set(follower.lines.map(({ check }) => check)).size).toBe(29);
    expect(follower.lines.every(({ from, cause }) => from === null && cause === "start")).toBe(true);
    for (let look = 0; look < 3; look++) {
      const { lines, requests } = await follower.after();
      expect(lines).toEqual([]);
      expect(requests).toHaveLength(1);
      expect(requests[0]).toContain("/api/v1/logs?");
    }
    expect(await follower.stop()).toBe("interrupted");
    expect(follower.calls.at(-1)).toBe("stopped");
    const again = start();
    await again.settled();
    expect(again.lines).toEqual([]);
    expect(await again.stop()).toBe("interrupted");
  });
});
