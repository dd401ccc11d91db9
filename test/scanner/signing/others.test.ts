import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtIn } from "../../../scanner/catalog/catalog.ts";
import { sha256 } from "../../../scanner/digest.ts";
import { readVerifier } from "../../../scanner/signing/keys.ts";
import { verifyPath } from "../../../scanner/signing/verify.ts";
import record from "../../fixtures/signed/accepted.json" with { type: "json" };

const folder = join(import.meta.dirname, "../../fixtures/signed/p256");

/** `verify_with_others.py` in the folder of the fixtures asked both, and wrote what they said. */
test("verify accepts what securesystemslib and openssl accepted, and they refused what was changed", async () => {
  const text = await readFile(join(folder, "changes.intoto.json"));
  expect(record.p256).toEqual({
    sha256: sha256(text),
    securesystemslib: true,
    openssl: true,
    changed: { securesystemslib: false, openssl: false },
  });
  const verifier = await readVerifier({ option: "--key", file: join(folder, "key.pub") });
  const lines = await verifyPath(folder, verifier, { orgUrl: null, since: null, revision: builtIn });
  expect(lines).toContain("changes.ndjson: as signed");
});
