import { existsSync } from "node:fs";
import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import { openChangeFile } from "../../../scanner/commands/follow_command.ts";
import { sha256 } from "../../../scanner/digest.ts";
import { maxPending } from "../../../scanner/follow/follow_record.ts";
import { readSigner } from "../../../scanner/signing/keys.ts";
import type { Statement } from "../../../scanner/signing/statement.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { writeKeyPair } from "../../support/key_pair.ts";

function factsAt(nowMs: number) {
  const at = new Date(nowMs).toISOString();
  const scan = { org_url: "https://acme.okta.com", started_at: at, ended_at: at };
  return { scan, toolVersion: "1.2.3", revision: builtIn };
}

const line = { schema: "scanstream.watch/1", org_url: "https://acme.okta.com", from: "a", to: "b" } as const;

test("a line that a full disk has cut is followed by whole lines", async () => {
  const folder = await ownFolder();
  const path = join(folder, "changes.ndjson");
  await writeFile(path, '{"schema":"scanstr');
  const file = openChangeFile({ path, signer: null, nowMs: Date.now, say: expect.fail, factsAt });
  file.append([line]);
  // Every first result of a large org.
  file.append(Array.from({ length: maxPending + 1 }, () => line));
  await file.close();
  const [, ...lines] = (await readFile(path, "utf8")).split("\n");
  expect(lines).toEqual([...Array.from({ length: maxPending + 2 }, () => JSON.stringify(line)), ""]);
});

test.runIf(existsSync("/dev/full"))(
  "the file gets the lines that a full disk had no place for, before later ones",
  async () => {
    const path = join(await ownFolder(), "changes.ndjson");
    await symlink("/dev/full", path);
    const said: string[] = [];
    const file = openChangeFile({ path, signer: null, nowMs: Date.now, say: (text) => void said.push(text), factsAt });
    const lines = ["a", "b", "c"].map((from) => ({ ...line, from }));
    for (const line of lines.slice(0, 2)) file.append([line]);
    expect(said).toEqual([expect.stringContaining("no space left")]);
    await rm(path);
    file.append(lines.slice(2));
    await file.close();
    expect(await readFile(path, "utf8")).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  },
);

test("a growing file is signed at each UTC midnight and at the end, also after the clock was set back", async () => {
  const folder = await ownFolder();
  await writeKeyPair(join(folder, "key"));
  const signer = await readSigner({ option: "--sign", file: join(folder, "key") }, null);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.parse("2026-11-25T23:59:50Z") });
  onTestFinished(() => void vi.useRealTimers());
  const signedAt: string[] = [];
  const problems: string[] = [];
  const file = openChangeFile({
    path: join(folder, "changes.ndjson"),
    signer,
    nowMs: Date.now,
    say: (text) => problems.push(text),
    factsAt(nowMs) {
      const facts = factsAt(nowMs);
      signedAt.push(facts.scan.ended_at);
      return facts;
    },
  });
  file.append([line]);
  await vi.advanceTimersByTimeAsync(9000);
  expect(signedAt).toEqual([]);
  const advance = async (ms: number, count: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    while (signedAt.length < count) await setImmediate();
  };
  await advance(1000, 1);
  vi.setSystemTime(Date.parse("2026-11-25T23:00:00Z"));
  await advance(24 * 3_600_000, 2);
  await advance(3_600_000, 3);
  file.append([{ ...line, from: "b" }]);
  await file.close();
  expect(problems).toEqual([]);
  const midnights = ["2026-11-26T00:00:00.000Z", "2026-11-26T23:00:00.000Z", "2026-11-27T00:00:00.000Z"];
  expect(signedAt).toEqual([...midnights, expect.stringMatching(/^2026-11-27T00:00:00/)]);
  const { payload } = JSON.parse(await readFile(join(folder, "changes.intoto.json"), "utf8")) as { payload: string };
  const { subject, predicate } = JSON.parse(Buffer.from(payload, "base64").toString()) as Statement;
  const content = await readFile(join(folder, "changes.ndjson"));
  expect(subject).toEqual([{ name: "changes.ndjson", digest: { sha256: sha256(content) } }]);
  expect(predicate.ended_at).toBe(signedAt.at(-1));
});
