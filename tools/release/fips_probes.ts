import {
  createCipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  getFips,
  hkdfSync,
  randomBytes,
  sign,
} from "node:crypto";

/** One use of an algorithm; `isRefused`: a FIPS provider must not have it, so that the run shows that no other provider answers. */
interface Probe {
  readonly isRefused?: true;
  readonly run: () => unknown;
}

const text = Buffer.from("scanstream");
const { subtle } = globalThis.crypto;

export const probes: Readonly<Record<string, Probe>> = {
  "SHA-256, SHA-384, SHA-512": {
    run: () => ["sha256", "sha384", "sha512"].map((name) => createHash(name).update(text).digest()),
  },
  "SHA-1 (`node:crypto`; not used for security)": { run: () => createHash("sha1").update(text).digest() },
  "HMAC with SHA-256": { run: () => createHmac("sha256", randomBytes(32)).update(text).digest() },
  "HKDF with SHA-256": { run: () => hkdfSync("sha256", randomBytes(32), text, text, 32) },
  "AES-256-GCM": { run: () => createCipheriv("aes-256-gcm", randomBytes(32), randomBytes(12)).update(text) },
  "ECDSA P-256 (ES256)": {
    run: () => sign("sha256", text, generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey),
  },
  "RSA 2048, PKCS #1 v1.5 (RS256)": {
    run: () => sign("sha256", text, generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
  },
  "WebCrypto: ECDSA P-256": {
    run: () => subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]),
  },
  "WebCrypto: Ed25519": { run: () => subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]) },
  "Ed25519 (EdDSA)": { run: () => sign(null, text, generateKeyPairSync("ed25519").privateKey) },
  "RSA 1024": { isRefused: true, run: () => generateKeyPairSync("rsa", { modulusLength: 1024 }) },
  "a PKCS #1 key with a passphrase (its key is derived with MD5)": {
    isRefused: true,
    run: () =>
      generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
        type: "pkcs1",
        format: "pem",
        cipher: "aes-256-cbc",
        passphrase: "secret",
      }),
  },
  MD5: { isRefused: true, run: () => createHash("md5").update(text).digest() },
  "ChaCha20-Poly1305": {
    isRefused: true,
    run: () => createCipheriv("chacha20-poly1305", randomBytes(32), randomBytes(12), { authTagLength: 16 }),
  },
};

if (import.meta.main) {
  const rows = [{ what: "FIPS mode", result: getFips() === 1 ? "works" : "off" }];
  for (const [what, { run }] of Object.entries(probes)) {
    const result = await Promise.resolve()
      .then(run)
      .then(
        () => "works",
        (error: unknown) => `refused: ${error instanceof Error ? error.message : String(error)}`,
      );
    rows.push({ what, result });
  }
  process.stdout.write(JSON.stringify(rows));
}
