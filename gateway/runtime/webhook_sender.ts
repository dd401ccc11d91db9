import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { abortable } from "../../shared/abortable.ts";
import { hasCode } from "../../shared/error_code.ts";
import { hostOf, isPublicAddress, privateProblem, type TargetRules } from "../features/webhooks/address.ts";
import { readBeginning } from "../features/webhooks/answer_text.ts";
import {
  maxAnswerBytes,
  type ReceiverAnswer,
  type SendWebhook,
  type WebhookRequest,
} from "../features/webhooks/attempt.ts";
import { resolveName } from "./resolve_name.ts";

export interface WebhookSenderOptions {
  readonly rules: TargetRules;
  /** Every address of a name. Default: `resolveName`. */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Default: those of the public internet. */
  readonly isAllowed?: (address: string) => boolean;
  /** PEM. Default: the certificate authorities of the runtime. */
  readonly ca?: string;
}

/**
 * Sends webhooks on Node and Deno. A name is looked up once for each request, every address that it has must be allowed, and the
 * connection goes to the very address that was checked: a name server that answers differently the next time changes nothing.
 */
export function createWebhookSender({
  rules,
  resolve = resolveName,
  isAllowed = isPublicAddress,
  ca,
}: WebhookSenderOptions): SendWebhook {
  return async (request) => {
    const url = new URL(request.url);
    const addresses = await abortable(resolve(hostOf(url), request.signal), request.signal);
    if (addresses.length === 0) throw new Error("The name has no address");
    if (!rules.allowPrivate && !addresses.every(isAllowed)) throw new Error(`The URL ${privateProblem}`);
    const response = await connectFirst(addresses.slice(0, maxAddresses), (address) => post(url, address, request, ca));
    return readAnswer(response);
  };
}

/** For a name with more the others are not tried. */
const maxAddresses = 4;
const maxHeaderBytes = 16_384;

/** The next address is for one that cannot be reached: nothing was sent to it. */
async function connectFirst<Result>(
  addresses: readonly string[],
  connect: (address: string) => Promise<Result>,
): Promise<Result> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await connect(address);
    } catch (error) {
      if (!hasCode(error, "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH")) throw error;
      failure = error;
    }
  }
  throw failure;
}

function post(
  url: URL,
  address: string,
  { headers, body, signal }: WebhookRequest,
  ca: string | undefined,
): Promise<IncomingMessage> {
  const isTls = url.protocol === "https:";
  const host = hostOf(url);
  const bytes = new TextEncoder().encode(body);
  const options = {
    host: address,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    method: "POST",
    headers: { ...headers, host: url.host, "content-length": bytes.byteLength },
    // Its own connection, so that none is reused that was made for another name.
    agent: false,
    maxHeaderSize: maxHeaderBytes,
    signal,
  } as const;
  return new Promise((resolve, reject) => {
    const request = isTls
      ? requestHttps({ ...options, servername: isIP(host) === 0 ? host : "", ...(ca === undefined ? {} : { ca }) })
      : requestHttp(options);
    request.once("response", resolve);
    // Also what comes after the response: there it is an error of the body, which is no failure.
    request.on("error", reject);
    request.end(bytes);
  });
}

async function readAnswer(response: IncomingMessage): Promise<ReceiverAnswer> {
  const status = response.statusCode ?? 0;
  try {
    const isTaken = status >= 200 && status < 300;
    return { status, text: isTaken ? "" : await readBeginning(response, maxAnswerBytes) };
  } finally {
    response.on("error", () => {});
    response.destroy();
  }
}
