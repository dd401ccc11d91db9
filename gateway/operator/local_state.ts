import { errorCode, hasCode } from "../../shared/error_code.ts";
import { makeDirectory } from "../../command_line/files.ts";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, link, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from "jose";
import { settingsError, type UsageError } from "../../shared/usage_error.ts";

/**
 * The state of the embedded defaults in `.scanstream/`: the database, a secret for stream tokens, and the development key
 * that stands in for an issuer. Readable by this user only.
 */
export type LocalState = ReturnType<typeof createLocalState>;

export type DevelopmentKey = Awaited<ReturnType<typeof toDevelopmentKey>>;

interface DevelopmentClaims {
  readonly tenantClaim: string;
  readonly tenantId: string;
  readonly sub: string;
  readonly ttlSeconds: number;
}

/** In the folder that the gateway is started in. */
export const stateDirectory = ".scanstream";

export const developmentIssuer = "urn:scanstream:development";
export const developmentAudience = "scanstream";

/** Nothing is touched until it is needed: with a database, a secret and its own issuer a gateway keeps no state. */
export function createLocalState(directory: string) {
  const databaseDirectory = join(directory, "database");
  return {
    directory,
    databaseDirectory,
    /** The database of another user is refused: it would get files that its owner cannot read, and could not be opened again. */
    async makeDirectory(): Promise<void> {
      const probe = join(directory, `probe.${randomUUID()}`);
      try {
        await makeDirectory(directory, 0o700);
        await writeFile(probe, "", { mode: 0o600, flag: "wx" });
      } catch (cause) {
        throw cannotKeep(directory, cause);
      }
      const own = await stat(probe);
      await rm(probe, { force: true });
      const kept = await stat(databaseDirectory).catch(() => null);
      if (kept === null || kept.uid === own.uid) return;
      throw settingsError(
        `DATABASE_URL: unset, and the embedded database in ${databaseDirectory} is another user's: run the command as user ${kept.uid}`,
      );
    },
    streamTokenSecret: () =>
      keep("stream_token_secret", async () => randomBytes(32).toString("base64url"), requireSecret),
    developmentKey: () => keep("development_key.json", createPrivateJwk, toDevelopmentKey),
  };

  async function keep<Kept>(name: string, create: () => Promise<string>, parse: (text: string) => Promise<Kept>) {
    const path = join(directory, name);
    const text = await makeDirectory(directory, 0o700)
      .then(() => readOrCreate(path, create))
      .catch((cause: unknown) => {
        throw cannotKeep(directory, cause);
      });
    try {
      return await parse(text);
    } catch (cause) {
      // A machine that loses power may leave the file empty.
      throw settingsError(`${path} is damaged: delete it, and the next start makes a new one`, { cause });
    }
  }
}

function cannotKeep(directory: string, cause: unknown): UsageError {
  const code = errorCode(cause);
  const reason = code === null ? "" : ` (${code})`;
  return settingsError(
    `DATABASE_URL, STREAM_TOKEN_SECRET, AUTH_JWKS_URL or AUTH_JWKS: expected all three, or a folder ${directory} that can be written${reason}`,
    { cause },
  );
}

/** Creates the file atomically; of two concurrent writers one wins, and both read its content. */
async function readOrCreate(path: string, create: () => Promise<string>): Promise<string> {
  try {
    const text = await readFile(path, "utf8");
    await chmod(path, 0o600);
    return text;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, await create(), { mode: 0o600, flag: "wx" });
  try {
    // Unlike a rename, a link never replaces what another process has put there.
    await link(draft, path);
  } catch (error) {
    // Some file systems have no links; there the first of two writers at once may lose its secret to the second.
    if (hasCode(error, "EPERM", "ENOTSUP", "ENOSYS")) await rename(draft, path);
    else if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(path, "utf8");
}

async function requireSecret(text: string): Promise<string> {
  if (text.length < 32) throw new RangeError("The secret is too short");
  return text;
}

async function createPrivateJwk(): Promise<string> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return JSON.stringify({ ...(await exportJWK(privateKey)), kid: randomUUID(), alg: "ES256", use: "sig" });
}

async function toDevelopmentKey(text: string) {
  const jwk: JWK = JSON.parse(text);
  const { d: _secret, ...publicJwk } = jwk;
  const key = await importJWK(jwk, "ES256");
  return {
    publicJwk,
    /** Signs a JWT as the issuer that this gateway accepts while no other is named. */
    async sign({ tenantClaim, tenantId, sub, ttlSeconds }: DevelopmentClaims) {
      const issuedAt = Math.floor(Date.now() / 1000);
      const accessToken = await new SignJWT({ [tenantClaim]: tenantId })
        .setProtectedHeader({ alg: "ES256", kid: String(jwk.kid), typ: "JWT" })
        .setIssuer(developmentIssuer)
        .setAudience(developmentAudience)
        .setSubject(sub)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(key);
      return { access_token: accessToken, expires_at: new Date((issuedAt + ttlSeconds) * 1000).toISOString() };
    },
  };
}
