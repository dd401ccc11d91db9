import { expect, test } from "vitest";
import { KnownCallers } from "../../../gateway/auth/known_callers.ts";

const requestWith = (credential: string) =>
  new Request("http://gateway/api/v1/scans", { headers: { authorization: credential } });

test("guesses of one address are one holder, however many they are; a credential that was valid is its tenant's", () => {
  const callers = new KnownCallers({ digest: (credential) => credential, maxCallers: 2 });
  const holderOf = (credential: string) => callers.holderOf(requestWith(credential), "192.0.2.1");
  expect(new Set(["Api-Key a", "Api-Key b", "Bearer c"].map(holderOf))).toEqual(new Set(["address:192.0.2.1"]));
  for (const key of ["a", "b", "c"]) callers.learn(requestWith(`Api-Key ${key}`), `tenant ${key}`);
  // The oldest made room.
  expect(["a", "b", "c"].map((key) => holderOf(`Api-Key ${key}`))).toEqual([
    "address:192.0.2.1",
    "tenant b",
    "tenant c",
  ]);
  const stream = new Request("http://gateway/event-stream?access_token=t");
  callers.learn(stream, "tenant t");
  expect(callers.holderOf(stream, null)).toBe("tenant t");
  expect(callers.holderOf(new Request("http://gateway/"), null)).toBe("address:");
});
