import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { sha256 } from "../../../scanner/digest.ts";
import { readVerifier } from "../../../scanner/signing/keys.ts";
import { verifyPath } from "../../../scanner/signing/verify.ts";
import record from "../../fixtures/signed/accepted.json" with { type: "json" };

const fixtures = join(import.meta.dirname, "../../fixtures/signed");

/** `verify_with_others.py` there asked both, and wrote what they said. */
test.each(["p256", "ed25519"] as const)(
  "securesystemslib and openssl accepted what verify accepts, and not what was changed: %s",
  async (kind) => {
    const folder = join(fixtures, kind);
    const accepted = { securesystemslib: true, openssl: true };
    const refused = { securesystemslib: false, openssl: false };
    const text = await readFile(join(folder, "changes.intoto.json"));
    expect(record[kind]).toEqual({ sha256: sha256(text), ...accepted, changed: refused });
    expect(Object.keys(record.versions)).toEqual(Object.keys(accepted));
    const verifier = await readVerifier(join(folder, "key.pub"));
    const { pae, signature } = await verifyPath(folder, verifier, { orgUrl: null, since: null, revisions: [] });

    // openssl is on every machine that runs the tests: it is asked again.
    const place = await mkdtemp(join(tmpdir(), "scanstream-openssl-"));
    onTestFinished(() => rm(place, { recursive: true }));
    await writeFile(join(place, "signed"), pae);
    await writeFile(join(place, "sig"), signature);
    const key = join(folder, "key.pub");
    const ask =
      kind === "p256"
        ? ["dgst", "-sha256", "-verify", key, "-signature", "sig", "signed"]
        : ["pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", "signed", "-sigfile", "sig"];
    expect((await promisify(execFile)("openssl", ask, { cwd: place })).stdout).toMatch(/Verified/);
    await writeFile(join(place, "signed"), Buffer.concat([pae, Buffer.from(" ")]));
    await expect(promisify(execFile)("openssl", ask, { cwd: place })).rejects.toThrow();
  },
);
