import { createHash, generateKeyPairSync, sign } from "node:crypto";

export interface SelfSignedOptions {
  /** DNS names and IPv4 addresses that the certificate is for. */
  readonly names: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface SelfSigned {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const dayMs = 86_400_000;

/** A self-signed certificate (X.509 v3, EC P-256) and its private key, made here so that no tool need be installed. */
export function createSelfSigned(options: SelfSignedOptions): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { notBefore = new Date(Date.now() - dayMs), notAfter = new Date(Date.now() + dayMs) } = options;
  const spki = publicKey.export({ type: "spki", format: "der" });
  const name = sequence(set(sequence(objectId([2, 5, 4, 3]), tag(0x0c, Buffer.from("scanstream test")))));
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]));
  const altNames = sequence(...options.names.map(altName));
  const extensions = sequence(
    sequence(objectId([2, 5, 29, 17]), tag(0x04, altNames)),
    sequence(
      objectId([2, 5, 29, 19]),
      tag(0x01, Buffer.from([0xff])),
      tag(0x04, sequence(tag(0x01, Buffer.from([0xff])))),
    ),
  );
  const serial = createHash("sha256").update(spki).digest().subarray(0, 8);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))),
    tag(0x02, serial),
    algorithm,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    spki,
    tag(0xa3, extensions),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, algorithm, tag(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function altName(name: string): Buffer {
  const isAddress = /^\d+(\.\d+){3}$/.test(name);
  return isAddress ? tag(0x87, Buffer.from(name.split(".").map(Number))) : tag(0x82, Buffer.from(name, "ascii"));
}

function time(moment: Date): Buffer {
  return tag(0x18, Buffer.from(moment.toISOString().replaceAll(/[-:T]|\.\d+/g, ""), "ascii"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return tag(0x31, Buffer.concat(parts));
}

function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tag(0x06, Buffer.from(bytes));
}

function tag(code: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([code, ...size]), content]);
}
