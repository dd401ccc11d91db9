import * as v from "valibot";
import { parseJsonText } from "../evidence/json_text.ts";
import type { Signer, Verifier } from "./keys.ts";
import { statementSchema, type Statement } from "./statement.ts";

/** DSSE 1.0 (https://github.com/secure-systems-lab/dsse): the payload type is signed together with the payload. */

const payloadType = "application/vnd.in-toto+json";

const envelopeSchema = v.object({
  payload: v.string(),
  payloadType: v.string(),
  signatures: v.pipe(v.array(v.object({ keyid: v.optional(v.string()), sig: v.string() })), v.minLength(1)),
});

const reading = { repeatedKeys: "refuse", texts: "as_written" } as const;

/** Why a signed file proves nothing, in one sentence. */
export class NotProven extends Error {
  override readonly name = "NotProven";
}

/** The envelope as a file. */
export function signStatement(statement: Statement, signer: Signer): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = Buffer.from(signer.sign(paeOf(payload))).toString("base64");
  const envelope = { payload: payload.toString("base64"), payloadType, signatures: [{ keyid: signer.keyId, sig }] };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

/** The bytes that are signed: the pre-authentication encoding of DSSE. */
function paeOf(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.byteLength} `), payload]);
}

/** Statement of an envelope that the key has signed. Throws `NotProven`; a key in the envelope counts for nothing. */
export function openEnvelope(text: string, verifier: Verifier): Statement {
  const envelope = read(envelopeSchema, text, "the envelope");
  if (envelope.payloadType !== payloadType) {
    throw new NotProven(
      `the payload type is ${JSON.stringify(envelope.payloadType.slice(0, 100))}: expected ${payloadType}`,
    );
  }
  const payload = fromBase64(envelope.payload, "payload");
  const pae = paeOf(payload);
  const signatures = envelope.signatures.map(({ sig }) => fromBase64(sig, "signature"));
  if (!signatures.some((one) => verifier.verify(pae, one))) {
    const others = [...new Set(envelope.signatures.map(({ keyid }) => keyid ?? "no key id"))].join(", ").slice(0, 200);
    throw new NotProven(
      `no signature is of the key ${verifier.keyId}: the envelope names ${others}; another key has signed it, or it was changed`,
    );
  }
  return read(statementSchema, payload.toString("utf8"), "the signed statement");
}

function read<Schema extends v.GenericSchema>(schema: Schema, text: string, what: string): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = parseJsonText(text, reading);
  } catch (error) {
    throw new NotProven(`${what} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new NotProven(`${what} has another form: ${v.getDotPath(issue) ?? "it"} is ${issue.received.slice(0, 80)}`);
}

/** With padding, and nothing else than its alphabet. */
function fromBase64(text: string, what: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new NotProven(`the ${what} is no base64`);
  return Buffer.from(text, "base64");
}
