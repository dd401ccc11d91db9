import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface SelfSigned {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const commonName = Buffer.from("0603550403", "hex");
const ecdsaWithSha256 = Buffer.from("06082a8648ce3d040302", "hex");
const subjectAltName = Buffer.from("0603551d11", "hex");

/** A self-signed certificate (X.509 v3, EC P-256) and its private key, made here so that no tool need be installed. */
export function createSelfSigned(...names: readonly string[]): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(ecdsaWithSha256);
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from("scanstream test")))));
  const altNames = sequence(
    ...names.map((each) => der(0x82, Buffer.from(each))),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    algorithm,
    name,
    sequence(...["20200101000000Z", "21200101000000Z"].map((time) => der(0x18, Buffer.from(time)))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, altNames)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const certificate = sequence(body, algorithm, signature)
    .toString("base64")
    .replaceAll(/.{64}(?!$)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
